import { type Service, startSuiteService, suiteTools } from '@actlog/adapter-suite';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  type AnyClient,
  type Closable,
  connectInMemory,
  connectTo,
  connectWithSession,
  type Generation,
  listenWithoutSessions,
  listenWithSessions,
  sdks,
} from '../tests/pairs.ts';
import { type ActlogOptions, actlog } from './index.ts';

let service: Service;
const open: Closable[] = [];
beforeAll(async () => {
  service = await startSuiteService();
});
afterEach(async () => {
  for (const part of open.splice(0)) await part.close();
});
afterAll(() => service.close());

const generations = ['v1', 'v2'] as const;
const echo = (text: string) => ({ name: 'echo', arguments: { text } });

function serverWith(generation: Generation, options: ActlogOptions) {
  return () => {
    const server = actlog(sdks[generation].emptyServer(), options);
    sdks[generation].register(server as never, suiteTools().all);
    return server;
  };
}

function newClient(generation: Generation, options?: ActlogOptions): AnyClient {
  const client = sdks[generation].newClient() as AnyClient;
  return options ? actlog(client, options) : client;
}

/** Returns the sessions of an agent with the number of their events. */
async function sessionsOf(agentId: string) {
  await service.events('none'); // delivers all
  const sessions = await service.client.agents.sessions(agentId).toArray({ limit: 50 });
  return sessions.map(({ id, eventCount }) => ({ id, eventCount }));
}

test.each(generations)(
  '%s: two chats over one connection each have their own session',
  async (generation) => {
    const recorder = service.recorder();
    const client = newClient(generation, { recorder });
    const create = serverWith(generation, { recorder: service.recorder({ agentId: 'server' }) });
    open.push(...(await connectWithSession(client, { client: generation, server: generation }, create)));
    const chat = (id: string) =>
      recorder.session(id).run(() => Promise.all([client.callTool(echo(id)), client.callTool(echo('same'))]));
    await Promise.all([chat(`first ${generation}`), chat(`second ${generation}`)]);
    for (const id of [`first ${generation}`, `second ${generation}`]) {
      expect(await service.callLines(id)).toEqual(['tester echo 200', 'tester echo 200']);
    }
  },
);

test.each(generations)(
  '%s: two clients of a server that keeps sessions have the session of their own',
  async (generation) => {
    const agentId = `stateful ${generation}`;
    const { listener, servers } = await listenWithSessions(
      generation,
      serverWith(generation, { recorder: service.recorder({ agentId }) }),
    );
    const clients = [newClient(generation), newClient(generation)];
    for (const client of clients) await connectTo(listener.url, client, generation);
    open.push(...clients, ...servers, listener);
    await Promise.all(clients.flatMap((client) => [client.callTool(echo('a')), client.callTool(echo('b'))]));
    expect(await sessionsOf(agentId)).toEqual([
      { id: expect.stringMatching(/^transport-/), eventCount: 2 },
      { id: expect.stringMatching(/^transport-/), eventCount: 2 },
    ]);
  },
);

test.each(generations)('%s: two clients of a server without sessions share none', async (generation) => {
  const agentId = `stateless ${generation}`;
  const recorder = service.recorder({ agentId });
  const listener = await listenWithoutSessions(generation, serverWith(generation, { recorder }));
  const clients = [newClient(generation), newClient(generation)];
  for (const client of clients) await connectTo(listener.url, client, generation);
  open.push(...clients, listener);
  await Promise.all(clients.map((client) => client.callTool(echo('a'))));
  expect(await sessionsOf(agentId)).toEqual([
    { id: expect.any(String), eventCount: 1 },
    { id: expect.any(String), eventCount: 1 },
  ]);
});

test.each(generations)(
  '%s: two connections in one process, without sessions, each have their own',
  async (generation) => {
    const agentId = `pipes ${generation}`;
    const create = serverWith(generation, { recorder: service.recorder({ agentId }) });
    const clients = [newClient(generation), newClient(generation)];
    for (const client of clients) open.push(...(await connectInMemory(client, create)));
    for (const client of clients) for (const text of ['a', 'b']) await client.callTool(echo(text));
    expect(await sessionsOf(agentId)).toEqual([
      { id: expect.any(String), eventCount: 2 },
      { id: expect.any(String), eventCount: 2 },
    ]);
  },
);

test('a surrounding session takes precedence over that of the transport', async () => {
  const recorder = service.recorder();
  const client = newClient('v2', { recorder });
  const plain = () => {
    const server = sdks.v2.emptyServer();
    sdks.v2.register(server, suiteTools().all);
    return server;
  };
  open.push(...(await connectWithSession(client, { client: 'v2', server: 'v2' }, plain)));
  await recorder.session('chat').run(() => client.callTool(echo('a')));
  expect(await service.callLines('chat')).toEqual(['tester echo 200']);
});
