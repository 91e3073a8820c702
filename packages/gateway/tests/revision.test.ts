import { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GatewayTransport } from './gateway-transport.ts';
import { testServer } from './raw-gateway.ts';
import { TestService } from './service.ts';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.close());

test('records and guards the calls of revision 2026-07-28, which has no initialize', async () => {
  const archive = await service.policy('deny', ['greet'], {
    match: { tools: ['greet'], agents: ['nobody', 'modern'] },
  });
  const info = { name: 'modern', version: '1.0.0' };
  const client = new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const options = ['--guard', 'enforce', '--on-unavailable', 'deny'];
  const args = [...options, '--', ...testServer('revision-server.ts')];
  await client.connect(new GatewayTransport(service.environment(), args));
  const greet = () => client.callTool({ name: 'greet', arguments: { name: 'Ada' } });
  expect(await greet()).toMatchObject({ isError: true });
  await archive();
  expect(await greet()).toMatchObject({ content: [{ text: 'Hello, Ada' }] });
  await client.close();
  const calls = await service.calls('modern', 2);
  expect(calls.map(({ status }) => status)).toEqual([403, 200]);
  expect(new Set(calls.map(({ sessionId }) => sessionId)).size).toBe(1);
});
