import { type Service, startSuiteService, suiteTools } from '@actlog/adapter-suite';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  type AnyClient,
  type Closable,
  type CreateServer,
  connectInMemory,
  connectOverStdio,
  connectWithoutSession,
  connectWithSession,
  type Generation,
  sdks,
} from '../tests/pairs.ts';
import { actlog } from './index.ts';

let service: Service;
const open: Closable[] = [];
beforeAll(async () => {
  service = await startSuiteService();
});
afterEach(async () => {
  for (const part of open.splice(0)) await part.close();
});
afterAll(() => service.close());

const pairs = [
  ['v1', 'v1'],
  ['v1', 'v2'],
  ['v2', 'v1'],
  ['v2', 'v2'],
] as const;

type Connect = (
  client: AnyClient,
  generations: { readonly client: Generation; readonly server: Generation },
  create: CreateServer,
) => Promise<Closable[]>;

const connections: readonly (readonly [string, Connect])[] = [
  ['in memory', (client, _generations, create) => connectInMemory(client, create)],
  ['over HTTP with sessions', connectWithSession],
  ['over HTTP without sessions', connectWithoutSession],
];

const cases = connections.flatMap(([how, connect]) =>
  pairs.map(([client, server]) => ({ how, connect, client, server })),
);

function createServer(generation: Generation, recorder: Parameters<typeof actlog>[1], tools = suiteTools()) {
  return () => {
    const server = actlog(sdks[generation].emptyServer(), recorder);
    sdks[generation].register(server as never, tools.all);
    return server;
  };
}

const echo = (text: string) => ({ name: 'echo', arguments: { text } });
const failing = { name: 'fail', arguments: { text: 'x' } };

test.each(cases)(
  '$how: a $client client and a $server server record one event of each call',
  async ({ connect, client: clientSdk, server: serverSdk, how }) => {
    const sessionId = `one-${clientSdk}-${serverSdk}-${how}`;
    const [clientRecorder, serverRecorder] = [
      service.recorder(),
      service.recorder({ agentId: 'the-server' }),
    ];
    const client = actlog(sdks[clientSdk].newClient() as AnyClient, { recorder: clientRecorder, sessionId });
    const create = createServer(serverSdk, { recorder: serverRecorder });
    open.push(...(await connect(client, { client: clientSdk, server: serverSdk }, create)));
    const results = await Promise.all([
      client.callTool(echo('a')),
      client.callTool(echo('a')),
      client.callTool(failing),
    ]);
    expect(results[0]).toEqual({ content: [{ type: 'text', text: 'echo: a' }] });
    await client.callTool({ name: 'echo', arguments: { text: 5 } }).catch(() => {});
    const events = await service.events(sessionId);
    expect(events.map(({ agentId, toolName, status }) => `${agentId} ${toolName} ${status}`).sort()).toEqual([
      'tester echo 200',
      'tester echo 200',
      'tester echo 400',
      'tester fail 502',
    ]);
    expect(clientRecorder.stats().delivered).toBe(4);
    expect(serverRecorder.stats().delivered).toBe(4);
  },
);

test.each(cases)(
  '$how: one approval lets a call of a $client client through both guards, and a $server server runs it',
  async ({ connect, client: clientSdk, server: serverSdk, how }) => {
    const sessionId = `approved-${clientSdk}-${serverSdk}-${how}`;
    const tools = suiteTools();
    const client = actlog(sdks[clientSdk].newClient() as AnyClient, {
      recorder: service.guarded(),
      sessionId,
    });
    const serverRecorder = service.recorder({
      agentId: 'the-server',
      guard: { mode: 'enforce', onUnavailable: 'deny' },
    });
    const create = createServer(serverSdk, { recorder: serverRecorder }, tools);
    open.push(...(await connect(client, { client: clientSdk, server: serverSdk }, create)));
    const call = client.callTool(echo('a'));
    await service.decide(sessionId, 'approve');
    expect(await call).toMatchObject({ content: [{ text: 'echo: a' }] });
    expect(await client.callTool(failing)).toMatchObject({ isError: true });
    expect(tools.ran).toEqual(['echo a']);
    expect(await service.callLines(sessionId)).toEqual(['tester echo 200', 'tester fail 403']);
    const decided = await service.client.guardian.pendingActions
      .list({ sessionId, status: 'approved' })
      .toArray({ limit: 5 });
    expect(decided).toHaveLength(1);
    expect(serverRecorder.stats().guard.allowed).toBe(1);
  },
);

test.each(pairs)(
  'a %s client and a %s server in a child process record one event',
  async (clientSdk, serverSdk) => {
    const sessionId = `stdio-${clientSdk}-${serverSdk}`;
    const recorder = service.recorder();
    const client = actlog(sdks[clientSdk].newClient() as AnyClient, { recorder, sessionId });
    await connectOverStdio(client, clientSdk, {
      args: [serverSdk],
      env: {
        ACTLOG_BASE_URL: service.url,
        ACTLOG_API_KEY: service.apiKey,
        ACTLOG_AGENT_ID: 'the-server',
        ACTLOG_SPOOL_DIR: service.newFolder(),
      },
    });
    await client.callTool(echo('a'));
    await client.callTool(failing);
    await client.close();
    expect(await service.callLines(sessionId)).toEqual(['tester echo 200', 'tester fail 502']);
    const ofServer = await service.client.agents
      .sessions('the-server')
      .toArray({ limit: 5 })
      .catch(() => []);
    expect(ofServer).toEqual([]);
  },
);

test('a guard of the server alone holds the call in the session of the client', async () => {
  const tools = suiteTools();
  const client = actlog(sdks.v2.newClient() as AnyClient, {
    recorder: service.recorder(),
    sessionId: 'server-holds',
  });
  const create = createServer('v2', { recorder: service.guarded(), sessionId: 'of-the-server' }, tools);
  open.push(...(await connectWithSession(client, { client: 'v2', server: 'v2' }, create)));
  const call = client.callTool(echo('a'));
  await service.decide('server-holds', 'deny');
  expect(await call).toMatchObject({ isError: true });
  expect(tools.ran).toEqual([]);
  expect(await service.callLines('server-holds')).toEqual(['tester echo 403']);
  expect(await service.events('of-the-server')).toEqual([]);
});

test('a client and a server with one recorder, over HTTP, record one event of each call', async () => {
  const recorder = service.recorder();
  const client = actlog(sdks.v2.newClient() as AnyClient, { recorder, sessionId: 'one-recorder' });
  const create = createServer('v2', { recorder });
  open.push(...(await connectWithSession(client, { client: 'v2', server: 'v2' }, create)));
  await Promise.all([client.callTool(echo('a')), client.callTool(failing)]);
  expect((await service.callLines('one-recorder')).sort()).toEqual(['tester echo 200', 'tester fail 502']);
});
