import { createServer } from 'node:net';
import { type Service, startSuiteService, suiteTools } from '@actlog/adapter-suite';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { addTools, newFastMcp } from '../tests/fastmcp-server.ts';
import { type AnyClient, type Closable, connectOverStdio, connectTo, sdks } from '../tests/pairs.ts';
import { type ActlogOptions, actlog } from './index.ts';

let service: Service;
const open: Closable[] = [];
beforeAll(async () => {
  vi.spyOn(console, 'info').mockReturnValue(); // the oldest version has no other logger
  service = await startSuiteService();
});
afterEach(async () => {
  for (const part of open.splice(0)) await part.close();
});
afterAll(() => service.close());

const echo = { name: 'echo', arguments: { text: 'a' } };

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts a server over HTTP with the tools of the suite. */
async function startServer(options: ActlogOptions, { stateless = false, tools = suiteTools() } = {}) {
  const server = actlog(newFastMcp(), options);
  addTools(server, tools);
  const port = await freePort();
  await server.start({ transportType: 'httpStream', httpStream: { port, stateless } as never });
  open.push({ close: () => server.stop() });
  return new URL(`http://localhost:${port}/mcp`);
}

async function connect(url: URL, options?: ActlogOptions): Promise<AnyClient> {
  const client = sdks.v1.newClient() as AnyClient;
  if (options) actlog(client, options);
  await connectTo(url, client, 'v1');
  open.unshift(client);
  return client;
}

test.each([false, true])('records every call over HTTP, stateless: %s', async (stateless) => {
  const agentId = `fastmcp ${stateless}`;
  const recorder = service.recorder({ agentId });
  const url = await startServer({ recorder }, { stateless });
  const client = await connect(url);
  expect(await client.callTool(echo)).toMatchObject({ content: [{ type: 'text', text: 'echo: a' }] });
  expect(await client.callTool({ name: 'fail', arguments: { text: 'a' } })).toMatchObject({ isError: true });
  await expect(client.callTool({ name: 'echo', arguments: { text: 5 } })).rejects.toThrow(
    'validation failed',
  );
  await expect(client.callTool({ name: 'nothing' })).rejects.toThrow('Unknown tool');
  await recorder.flush();
  const sessions = await service.client.agents.sessions(agentId).toArray({ limit: 10 });
  const lines = await Promise.all(sessions.map(({ id }) => service.callLines(id)));
  expect(lines.flat().sort()).toEqual([
    `${agentId} echo 200`,
    `${agentId} echo 400`,
    `${agentId} fail 502`,
    `${agentId} nothing 404`,
  ]);
  expect(sessions).toHaveLength(stateless ? 4 : 1);
});

test('guards the first call of a session, and holds it for approval', async () => {
  const tools = suiteTools();
  const url = await startServer({ recorder: service.guarded(), sessionId: 'fastmcp-guarded' }, { tools });
  const client = await connect(url);
  const [denied, held] = [client.callTool({ name: 'fail', arguments: { text: 'a' } }), client.callTool(echo)];
  await service.decide('fastmcp-guarded', 'approve');
  expect(await denied).toMatchObject({ isError: true });
  expect(await held).toMatchObject({ content: [{ text: 'echo: a' }] });
  expect(tools.ran).toEqual(['echo a']);
  expect((await service.callLines('fastmcp-guarded')).sort()).toEqual(['tester echo 200', 'tester fail 403']);
});

test('two servers in one process keep their recorders and sessions apart', async () => {
  const [first, second] = [service.recorder({ agentId: 'one' }), service.recorder({ agentId: 'two' })];
  const urls = [
    await startServer({ recorder: first, sessionId: 'fastmcp-one' }),
    await startServer({ recorder: second, sessionId: 'fastmcp-two' }),
  ];
  for (const url of urls) await (await connect(url)).callTool(echo);
  expect(await service.callLines('fastmcp-one')).toEqual(['one echo 200']);
  expect(await service.callLines('fastmcp-two')).toEqual(['two echo 200']);
});

test('a client with actlog and the server record one event', async () => {
  const serverRecorder = service.recorder({ agentId: 'server' });
  const client = await connect(await startServer({ recorder: serverRecorder }), {
    recorder: service.recorder(),
    sessionId: 'fastmcp-both',
  });
  await client.callTool(echo);
  await client.callTool({ name: 'fail', arguments: { text: 'a' } });
  expect(await service.callLines('fastmcp-both')).toEqual(['tester echo 200', 'tester fail 502']);
  expect(serverRecorder.stats().delivered).toBe(2);
});

test('records calls over stdio from the first on', async () => {
  const client = sdks.v2.newClient() as AnyClient;
  await connectOverStdio(client, 'v2', {
    program: 'fastmcp-stdio-server.ts',
    args: [],
    env: {
      ACTLOG_BASE_URL: service.url,
      ACTLOG_API_KEY: service.apiKey,
      ACTLOG_AGENT_ID: 'fastmcp-stdio',
      ACTLOG_SPOOL_DIR: service.newFolder(),
    },
  });
  await client.callTool(echo);
  await client.close();
  await expect
    .poll(() => service.client.agents.sessions('fastmcp-stdio').toArray({ limit: 5 }))
    .toMatchObject([{ eventCount: 1, toolNames: ['echo'] }]);
});

test('applies a guard that is added after the start', async () => {
  const options = { recorder: service.recorder(), sessionId: 'fastmcp-second-guard' };
  const tools = suiteTools();
  const server = actlog(newFastMcp(), options);
  addTools(server, tools);
  const port = await freePort();
  await server.start({ transportType: 'httpStream', httpStream: { port } });
  open.push({ close: () => server.stop() });
  const client = await connect(new URL(`http://localhost:${port}/mcp`));
  actlog(server, { ...options, guard: { mode: 'enforce', onUnavailable: 'deny' } });
  expect(await client.callTool({ name: 'fail', arguments: { text: 'a' } })).toMatchObject({ isError: true });
  expect(tools.ran).toEqual([]);
  expect(await service.callLines('fastmcp-second-guard')).toEqual(['tester fail 403']);
});

test('rejects a server that was started before', async () => {
  const server = newFastMcp();
  addTools(server);
  const port = await freePort();
  await server.start({ transportType: 'httpStream', httpStream: { port } });
  open.push({ close: () => server.stop() });
  const client = sdks.v1.newClient() as AnyClient;
  await connectTo(new URL(`http://localhost:${port}/mcp`), client, 'v1');
  open.unshift(client);
  expect(() => actlog(server, { recorder: service.recorder() })).toThrow('was started before');
});

test('rejects to start a server of another copy of fastmcp', async () => {
  const copy = Object.assign(Object.create({ addTool() {}, start: async () => {} }), { sessions: [] });
  const server = actlog(copy, { recorder: service.recorder() });
  await expect(server.start()).rejects.toThrow('another copy of fastmcp');
});
