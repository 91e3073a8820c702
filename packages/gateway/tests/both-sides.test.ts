import { actlog } from '@actlog/mcp';
import { Recorder } from '@actlog/recorder';
import { Client } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { gatewayArgs } from './gateway-program.ts';
import { GatewayTransport } from './gateway-transport.ts';
import { RawGateway, testServer, textOf } from './raw-gateway.ts';
import { TestService } from './service.ts';

let service: TestService;
const archive: (() => PromiseLike<unknown>)[] = [];
beforeAll(async () => {
  service = await TestService.start();
});
afterEach(async () => {
  for (const policy of archive.splice(0)) await policy();
});
afterAll(() => service.close());

test('counts a call that the client records, too, once, with the status that the gateway knows', async () => {
  const recorder = new Recorder({
    baseURL: service.url,
    apiKey: service.agentKey,
    agentId: 'recorded-client',
    spoolDir: service.newFolder(),
  });
  const client = actlog(new Client({ name: 'other-name', version: '1.0.0' }), {
    recorder,
    sessionId: 'both',
  });
  const args = ['--', ...testServer('scripted-server.ts')];
  await client.connect(new GatewayTransport(service.environment(), args));
  const result = await client.callTool({ name: 'echo', arguments: { a: 1 } });
  await client.callTool({ name: 'fail' });
  expect(result._meta).toBeUndefined();
  await client.close();
  await recorder.close();
  const calls = await service.calls('recorded-client', 2);
  expect(calls).toMatchObject([
    { sessionId: 'both', toolName: 'echo', status: 200 },
    { sessionId: 'both', toolName: 'fail', status: 500 },
  ]);
  expect(await service.calls('other-name', 0)).toEqual([]);
});

test('counts a call that the server records, too, once with --announce, and asks a person once', async () => {
  archive.push(await service.policy('require_approval', ['greet']));
  const options = ['--guard', 'enforce', '--on-unavailable', 'deny', '--announce'];
  const env = service.environment({ ACTLOG_GUARD: 'enforce', ACTLOG_GUARD_ON_UNAVAILABLE: 'deny' });
  const server = [
    process.execPath,
    ...gatewayArgs.slice(0, 2),
    ...testServer('recording-server.ts').slice(1),
  ];
  const gateway = RawGateway.start(env, server, options);
  await gateway.initialize('announced');
  gateway.call(1, 'greet', { name: 'Ada' });
  await service.approve('announced');
  const response = await gateway.message(({ id }) => id === 1);
  expect(textOf(response)).toBe('Hello, Ada');
  expect(JSON.stringify(response)).not.toContain('actlog/call');
  await gateway.end();
  expect(await service.calls('announced', 1)).toMatchObject([{ toolName: 'greet', status: 200 }]);
});
