import { afterAll, beforeAll, expect, test } from 'vitest';
import { RawGateway, testServer } from './raw-gateway.ts';
import { TestService } from './service.ts';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.close());

async function start(agent: string, env: Record<string, string> = {}, options: readonly string[] = []) {
  const gateway = RawGateway.start(service.environment(env), testServer('scripted-server.ts'), options);
  await gateway.initialize(agent);
  return gateway;
}

test('responds to open calls when the server crashes, and keeps its stderr and exit code', async () => {
  const gateway = RawGateway.startProcess(service.environment(), testServer('scripted-server.ts'));
  await gateway.initialize('crash');
  gateway.call(1, 'silent', { secret: 's3cret' });
  gateway.call(2, 'crash');
  for (const wanted of [1, 2]) {
    const { error } = await gateway.message(({ id }) => id === wanted);
    expect(error).toEqual({
      code: -32000,
      message: 'The MCP server ended with exit code 7: Connection closed',
    });
  }
  expect(await gateway.exit).toEqual({ code: 7, signal: null });
  expect(gateway.stderr).toBe('The server crashes.\n');
  expect(await service.calls('crash', 2)).toMatchObject([{ status: 503 }, { status: 503 }]);
});

test('ends by the signal that ended the server', async () => {
  const gateway = await start('killed');
  gateway.call(1, 'abort');
  const { error } = await gateway.message(({ id }) => id === 1);
  expect(error?.message).toContain('signal SIGKILL');
  expect(await gateway.exit).toEqual({ code: null, signal: 'SIGKILL' });
  expect(await service.calls('killed', 1)).toMatchObject([{ toolName: 'abort', status: 503 }]);
});

test('ends the server when the client is gone, and has its exit code', async () => {
  const gateway = await start('leaves', { EXIT_CODE: '3' });
  gateway.call(1, 'silent');
  gateway.send({ jsonrpc: '2.0', id: 2, method: 'ping' });
  await gateway.message(({ id }) => id === 2);
  expect(await gateway.end()).toEqual({ code: 3, signal: null });
  expect(await service.calls('leaves', 1)).toMatchObject([{ toolName: 'silent', status: 499 }]);
});

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'passes %s on, and delivers what was recorded',
  async (signal) => {
    const gateway = await start(`on-${signal}`);
    gateway.call(1, 'echo');
    await gateway.message(({ id }) => id === 1);
    gateway.kill(signal);
    expect(await gateway.exit).toEqual({ code: null, signal });
    expect(await service.calls(`on-${signal}`, 1)).toMatchObject([{ toolName: 'echo', status: 200 }]);
  },
);

test('does not pass the API key to the server', async () => {
  const gateway = await start('environment');
  gateway.call(1, 'environment');
  const { result } = await gateway.message(({ id }) => id === 1);
  expect(result?.content?.[0]?.text).toContain('ACTLOG_BASE_URL');
  expect(result?.content?.[0]?.text).not.toContain('ACTLOG_API_KEY');
  await gateway.end();
});

test('names a command that does not exist, without its arguments', async () => {
  const gateway = RawGateway.start(service.environment(), ['no-such-command', '--token', 's3cret']);
  expect(await gateway.exit).toEqual({ code: 1, signal: null });
  expect(gateway.stderr).toContain('The command of the MCP server, no-such-command, could not be started');
  expect(gateway.stderr).not.toContain('s3cret');
});
