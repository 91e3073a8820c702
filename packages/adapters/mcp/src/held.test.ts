import { type Service, startSuiteService, suiteTools } from '@actlog/adapter-suite';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import * as v1 from '../tests/sdk-v1.ts';
import * as v2 from '../tests/sdk-v2.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await startSuiteService();
});
afterAll(() => service.close());

const echo = { name: 'echo', arguments: { text: 'x' } };

async function guardedServer(sdk: typeof v1 | typeof v2, sessionId: string) {
  const { all, ran } = suiteTools();
  const server = actlog(sdk.emptyServer(), { recorder: service.guarded(), sessionId });
  sdk.register(server as never, all);
  const client = sdk.newClient();
  await sdk.connectInMemory(client as never, server as never);
  const { callTool } = client as { callTool: (...args: unknown[]) => Promise<unknown> };
  const call = (options: object) =>
    sdk === v1 ? callTool.call(client, echo, undefined, options) : callTool.call(client, echo, options);
  return { server, client, ran, call };
}

/** Resolves when the service has this number of events of the session. */
async function recorded(sessionId: string, count: number) {
  for (let turn = 0; turn < 1000; turn += 1) {
    const events = await service.events(sessionId);
    if (events.length >= count) return events;
  }
  throw new Error(`Session ${sessionId} never had ${count} events.`);
}

const sdks = [
  ['v1', v1],
  ['v2', v2],
] as const;

test.each(sdks)('%s: never runs a tool after the client stops waiting for an approval', async (name, sdk) => {
  const sessionId = `gave-up-${name}`;
  const { call, ran } = await guardedServer(sdk, sessionId);
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const calling = expect(call({ timeout: 54_321 })).rejects.toThrow('timed out');
  const { id } = await service.held(sessionId);
  const [timeOut] = timers.mock.calls.find(([, delayMs]) => delayMs === 54_321) ?? [];
  timers.mockRestore();
  timeOut?.();
  await calling;
  await service.client.guardian.pendingActions.decide(id, { decision: 'approve' });
  expect(await recorded(sessionId, 1)).toMatchObject([{ status: 499 }]);
  expect(ran).toEqual([]);
});

test.each(sdks)('%s: never runs a held call of a disconnected client', async (name, sdk) => {
  const sessionId = `gone-${name}`;
  const { call, client, ran } = await guardedServer(sdk, sessionId);
  const calling = expect(call({})).rejects.toThrow('Connection closed');
  const { id } = await service.held(sessionId);
  await client.close();
  await calling;
  await service.client.guardian.pendingActions.decide(id, { decision: 'approve' });
  expect(await recorded(sessionId, 1)).toMatchObject([{ status: 499 }]);
  expect(ran).toEqual([]);
});

test.each(sdks)('%s: does not count a hold in the client toward its timeout', async (name, sdk) => {
  const sessionId = `client-${name}`;
  const { all, ran } = suiteTools();
  const server = sdk.emptyServer();
  sdk.register(server as never, all);
  const sent: string[] = [];
  const client = actlog(sdk.newClient(), { recorder: service.guarded(), sessionId });
  await sdk.connectInMemory(client as never, server as never);
  const { transport } = client;
  const send = transport?.send.bind(transport) as (message: { method?: string }) => Promise<void>;
  Object.assign(transport ?? {}, {
    send: (message: { method?: string }) => {
      sent.push(String(message.method));
      return send(message);
    },
  });
  const call = client.callTool(echo);
  await service.held(sessionId);
  expect(sent).toEqual([]); // the SDK starts its timeout when it sends
  await service.decide(sessionId, 'approve');
  expect(await call).toMatchObject({ content: [{ text: 'echo: x' }] });
  expect(ran).toEqual(['echo x']);
});

test.each(sdks)('%s: requires an approval for each call made by a tool', async (name, sdk) => {
  const sessionId = `nested-${name}`;
  const { client: upstream, ran } = await guardedServer(sdk, sessionId);
  const callTwice = async () => {
    for (const _ of ['first', 'second']) await upstream.callTool(echo);
    return 'done';
  };
  const gateway = sdk.emptyServer();
  sdk.register(gateway as never, [{ name: 'call_twice', run: callTwice }]);
  const client = actlog(sdk.newClient(), { recorder: service.recorder(), sessionId });
  await sdk.connectInMemory(client as never, gateway as never);
  const calling = client.callTool({ name: 'call_twice', arguments: { text: 'x' } });
  await service.decide(sessionId, 'approve');
  await service.decide(sessionId, 'deny');
  await calling;
  expect(ran).toEqual(['echo x']);
  expect(await service.events(sessionId)).toMatchObject([
    { toolName: 'echo', status: 200 },
    { toolName: 'echo', status: 403 },
    { toolName: 'call_twice', status: 200 },
  ]);
});

test('requires an approval for a recursive call with the same arguments', async () => {
  const sessionId = 'same-name';
  const { client: upstream, ran } = await guardedServer(v1, sessionId);
  const relayTwice = async () => {
    for (const _ of ['first', 'second']) await upstream.callTool(echo);
    return 'done';
  };
  const gateway = v1.emptyServer();
  v1.register(gateway, [{ name: 'echo', run: relayTwice }]);
  const client = actlog(v1.newClient(), { recorder: service.recorder(), sessionId });
  await v1.connectInMemory(client, gateway);
  const calling = client.callTool(echo);
  await service.decide(sessionId, 'approve');
  await service.decide(sessionId, 'deny');
  await calling;
  expect(ran).toEqual(['echo x']);
});
