import { afterAll, beforeAll, expect, test } from 'vitest';
import { RawGateway, testServer } from './raw-gateway.ts';
import { TestService } from './service.ts';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.close());

async function start(agent: string, env: Record<string, string> = {}, options: readonly string[] = []) {
  const gateway = RawGateway.startProcess(
    service.environment(env),
    testServer('scripted-server.ts'),
    options,
  );
  await gateway.initialize(agent);
  return gateway;
}

test('ends its process by the signal that ended the server', async () => {
  const gateway = await start('killed-process');
  gateway.call(1, 'abort');
  const { error } = await gateway.message(({ id }) => id === 1);
  expect(error?.message).toContain('signal SIGKILL');
  expect(await gateway.exit).toEqual({ code: null, signal: 'SIGKILL' });
  expect(await service.calls('killed-process', 1)).toMatchObject([{ toolName: 'abort', status: 503 }]);
});

test('ends a server that ignores the end of its stdin and SIGTERM', async () => {
  const gateway = await start('stubborn', { IGNORES_END: '1', IGNORES_SIGTERM: '1' });
  expect(await gateway.end()).toEqual({ code: null, signal: 'SIGKILL' });
  expect(gateway.stderr).toBe('SIGTERM was ignored.\n');
});

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'ends its process by %s, and delivers what was recorded',
  async (signal) => {
    const gateway = await start(`process-on-${signal}`);
    gateway.call(1, 'echo');
    await gateway.message(({ id }) => id === 1);
    gateway.kill(signal);
    expect(await gateway.exit).toEqual({ code: null, signal });
    expect(await service.calls(`process-on-${signal}`, 1)).toMatchObject([{ toolName: 'echo', status: 200 }]);
  },
);

test('delivers after a crash of the gateway what was recorded before', async () => {
  const address = await service.closedAddress();
  const env = { ACTLOG_BASE_URL: address.url, ACTLOG_SPOOL_DIR: service.newFolder() };
  const gateway = await start('crashed-gateway', env);
  gateway.call(1, 'echo');
  await gateway.message(({ id }) => id === 1);
  gateway.kill('SIGKILL');
  await gateway.exit;
  address.open();
  const next = await start('after-crash', env);
  next.call(1, 'echo');
  expect(await service.calls('crashed-gateway', 1)).toMatchObject([{ toolName: 'echo', status: 200 }]);
  await next.end();
  address.close();
});
