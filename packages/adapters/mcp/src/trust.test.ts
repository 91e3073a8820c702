import { Service, startSuiteService, suiteTools } from '@actlog/adapter-suite';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  type AnyClient,
  type Closable,
  connectInMemory,
  connectWithoutSession,
  connectWithSession,
  sdks,
} from '../tests/pairs.ts';
import { type ActlogOptions, actlog } from './index.ts';

let service: Service;
let elsewhere: Service;
const open: Closable[] = [];
beforeAll(async () => {
  service = await startSuiteService();
  elsewhere = await Service.start();
});
afterEach(async () => {
  for (const part of open.splice(0)) await part.close();
});
afterAll(async () => {
  await service.close();
  await elsewhere.close();
});

const metaKey = 'actlog/call';
const echo = { name: 'echo', arguments: { text: 'a' } };
const both = { client: 'v2', server: 'v2' } as const;

function serverWith(options: ActlogOptions, tools = suiteTools()) {
  return () => {
    const server = actlog(sdks.v2.emptyServer(), options);
    sdks.v2.register(server, tools.all);
    return server;
  };
}

/** Creates a client that notes the `_meta` of the calls that it sends. */
function spiedClient(options?: ActlogOptions) {
  const sent: { readonly _meta?: Record<string, unknown>; readonly arguments?: unknown }[] = [];
  const client = sdks.v2.newClient();
  const request = client.request.bind(client) as (...args: unknown[]) => Promise<unknown>;
  Object.assign(client, {
    request(message: { method: string; params: (typeof sent)[number] }, ...rest: unknown[]) {
      if (message.method === 'tools/call') sent.push(message.params);
      return request(message, ...rest);
    },
  });
  return { client: (options ? actlog(client, options) : client) as AnyClient, sent };
}

test('a client and a server of two services record in both', async () => {
  const { client } = spiedClient({ recorder: service.recorder(), sessionId: 'here' });
  const create = serverWith({ recorder: elsewhere.recorder({ agentId: 'server' }), sessionId: 'there' });
  open.push(...(await connectWithSession(client, both, create)));
  expect(await client.callTool(echo)).toEqual({ content: [{ type: 'text', text: 'echo: a' }] });
  expect(await service.callLines('here')).toEqual(['tester echo 200']);
  expect(await elsewhere.callLines('there')).toEqual(['server echo 200']);
});

test('a client and a server with the same hashKey record one event with different API keys', async () => {
  const hashKey = 'a key that both sides have';
  const clientRecorder = service.recorder({ hashKey });
  const { client, sent } = spiedClient({ recorder: clientRecorder, sessionId: 'hash-key' });
  const create = serverWith({ recorder: elsewhere.recorder({ hashKey }) });
  open.push(...(await connectWithSession(client, both, create)));
  await client.callTool(echo);
  const [here] = await service.storedEvents('hash-key');
  const [there] = await elsewhere.storedEvents('hash-key');
  expect(here?.eventId).toBe(there?.eventId);
  expect(here?.sourceTimestamp).toBe(there?.sourceTimestamp);
  expect(JSON.stringify(sent)).not.toContain('hash-key');
});

test('a server guards and records a call with an announcement that it cannot open', async () => {
  const tools = suiteTools();
  const { client } = spiedClient();
  open.push(
    ...(await connectWithSession(
      client,
      both,
      serverWith({ recorder: service.guarded(), sessionId: 'forged' }, tools),
    )),
  );
  for (const forged of [['x'], ['x'.repeat(100)], 'x', [5, null], { a: 1 }]) {
    const denied = await client.callTool({
      name: 'fail',
      arguments: { text: 'a' },
      _meta: { [metaKey]: forged },
    });
    expect(denied).toMatchObject({ isError: true });
    expect(denied._meta?.[metaKey]).toBeUndefined();
  }
  expect(tools.ran).toEqual([]);
  expect(await service.callLines('forged')).toEqual(Array(5).fill('tester fail 403'));
});

test.each([
  ['with sessions', connectWithSession],
  ['without sessions', connectWithoutSession],
])(
  'a repeated announcement, over HTTP %s, is a new event that needs an approval of its own',
  async (how, connect) => {
    const sessionId = `replayed ${how}`;
    const tools = suiteTools();
    const create = serverWith({ recorder: service.guarded(), sessionId: `${sessionId}, server` }, tools);
    const honest = spiedClient({ recorder: service.recorder(), sessionId });
    open.push(...(await connect(honest.client, both, create)));
    const first = honest.client.callTool(echo);
    await service.decide(sessionId, 'approve');
    await first;
    const { client } = spiedClient();
    open.push(...(await connect(client, both, create)));
    const again = client.callTool(honest.sent[0] as never);
    await service.decide(`${sessionId}, server`, 'deny');
    expect(await again).toMatchObject({ isError: true });
    expect(tools.ran).toEqual(['echo a']);
    expect(await service.callLines(sessionId)).toEqual(['tester echo 200']);
    expect(await service.callLines(`${sessionId}, server`)).toEqual(['tester echo 403']);
  },
);

test('an announcement does not count for other arguments or another tool', async () => {
  const options = { recorder: service.recorder(), sessionId: 'altered, server' };
  const honest = spiedClient({ recorder: service.recorder(), sessionId: 'altered' });
  // A server without actlog gets the announcements, and passes them on.
  const plain = () => {
    const server = sdks.v2.emptyServer();
    sdks.v2.register(server, suiteTools().all);
    return server;
  };
  open.push(...(await connectInMemory(honest.client, plain)));
  await honest.client.callTool(echo);
  await honest.client.callTool(echo);
  const { client } = spiedClient();
  open.push(...(await connectWithSession(client, both, serverWith(options))));
  const [first, second] = honest.sent.map(({ _meta }) => _meta);
  await client.callTool({ name: 'echo', arguments: { text: 'b' }, _meta: first } as never);
  await client.callTool({ name: 'fail', arguments: { text: 'a' }, _meta: second } as never);
  expect(await service.callLines('altered')).toEqual(['tester echo 200', 'tester echo 200']);
  expect(await service.callLines('altered, server')).toEqual(['tester echo 200', 'tester fail 502']);
});

test('a server cannot say what its client records if it has another secret', async () => {
  const server = sdks.v2.emptyServer();
  server.registerTool('echo', { description: 'Lies.' }, () => ({
    content: [],
    isError: true,
    _meta: { [metaKey]: ['x'.repeat(80)], own: 1 },
  }));
  const { client } = spiedClient({ recorder: service.recorder(), sessionId: 'lied-to' });
  open.push(...(await connectInMemory(client, () => server)));
  expect(await client.callTool({ name: 'echo' })).toEqual({ content: [], isError: true, _meta: { own: 1 } });
  expect(await service.callLines('lied-to')).toEqual(['tester echo 500']);
});

test('the announcement leaves the arguments, the result and the own fields of _meta alone', async () => {
  const server = sdks.v2.emptyServer();
  const seen: unknown[] = [];
  server.server.registerCapabilities({ tools: {} });
  server.server.setRequestHandler('tools/call', ({ params }) => {
    seen.push(params);
    return { content: [], _meta: { theirs: 2 } };
  });
  const { client } = spiedClient({ recorder: service.recorder(), sessionId: 'left-alone' });
  open.push(...(await connectInMemory(client, () => server)));
  const params = { ...echo, _meta: { 'example.com/own': 1 } };
  expect(await client.callTool(params)).toMatchObject({ content: [], _meta: { theirs: 2 } });
  expect(params).toEqual({ ...echo, _meta: { 'example.com/own': 1 } });
  expect(seen).toEqual([
    { ...echo, _meta: { 'example.com/own': 1, [metaKey]: [expect.stringMatching(/^[\w-]+$/)] } },
  ]);
});

test('a client without actlog gets the result of a server with it as it is', async () => {
  const { client } = spiedClient();
  open.push(
    ...(await connectInMemory(
      client,
      serverWith({ recorder: service.recorder(), sessionId: 'plain-client' }),
    )),
  );
  expect(await client.callTool(echo)).toEqual({ content: [{ type: 'text', text: 'echo: a' }] });
});

test('a recorder that reports to no service announces nothing', async () => {
  const { client, sent } = spiedClient({ recorder: service.recorder(), include: ['other'] });
  open.push(
    ...(await connectInMemory(client, serverWith({ recorder: service.recorder(), sessionId: 'none' }))),
  );
  await client.callTool(echo);
  expect(sent).toEqual([echo]);
});
