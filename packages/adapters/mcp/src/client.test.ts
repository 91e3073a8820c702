import { EventEmitter, once } from 'node:events';
import { type Service, startSuiteService, suiteTools } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/recorder';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as v1 from '../tests/sdk-v1.ts';
import * as v2 from '../tests/sdk-v2.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await startSuiteService();
});
afterAll(() => service.close());

async function v1Client(options: Parameters<typeof actlog>[1], tools = suiteTools()) {
  const server = v1.emptyServer();
  v1.register(server, tools.all);
  const client = actlog(v1.newClient(), options);
  await v1.connectInMemory(client, server);
  return { client, ran: tools.ran, server };
}

async function v2Client(options: Parameters<typeof actlog>[1], tools = suiteTools()) {
  const server = v2.emptyServer();
  v2.register(server, tools.all);
  const client = actlog(v2.newClient(), options);
  await v2.connectInMemory(client, server);
  return { client, ran: tools.ran, server };
}

test('records tool calls with request() like those with callTool()', async () => {
  const recorder = service.recorder();
  const first = await v1Client({ recorder, sessionId: 'by-request' });
  const params = { name: 'echo', arguments: { text: 'a' } };
  const answer = await first.client.request({ method: 'tools/call', params }, CallToolResultSchema);
  expect(answer.content).toEqual([{ type: 'text', text: 'echo: a' }]);
  const second = await v2Client({ recorder, sessionId: 'by-request' });
  await second.client.request({ method: 'tools/call', params });
  await second.client.listTools();
  expect(await service.events('by-request')).toMatchObject([{ status: 200 }, { status: 200 }]);
});

test("returns only the denial's message, or throws if there is no result", async () => {
  const { client, ran } = await v1Client({ recorder: service.guarded(), sessionId: 'denied' });
  const params = { name: 'fail', arguments: { text: 'a' } };
  const words = /^The call of the tool "fail" was not run: .*Never fail\..*tell the user\.$/;
  const result = await client.callTool(params);
  expect(result).toEqual({ isError: true, content: [{ type: 'text', text: expect.stringMatching(words) }] });
  const task = client.request(
    { method: 'tools/call', params: { ...params, task: { ttl: 1000 } } },
    CallToolResultSchema,
  );
  await expect(task).rejects.toThrow(words);
  expect(ran).toEqual([]);
});

test('hashes missing arguments like empty ones', async () => {
  const { client } = await v1Client({ recorder: service.recorder(), sessionId: 'no-arguments' });
  await client.callTool({ name: 'echo' }).catch(() => {}); // the oldest SDK rejects where newer ones return an error result
  const [event] = await service.storedEvents('no-arguments');
  expect(event?.payload?.argumentsHash).toBe(await hashArguments({}));
});

test.each([
  ['v1', v1Client],
  ['v2', v2Client],
] as const)('%s: a timeout, an abort and a lost connection are told apart', async (version, connect) => {
  const sessionId = `lost-${version}`;
  const starts = new EventEmitter();
  const stuck = {
    name: 'stuck',
    run: () => {
      starts.emit('start');
      return new Promise<never>(() => {});
    },
  };
  const tools = { ...suiteTools(), all: [stuck] };
  const { client, server } = await connect({ recorder: service.recorder(), sessionId }, tools);
  const call = (options: object) => {
    const { callTool } = client as { callTool: (...args: unknown[]) => Promise<unknown> };
    const params = { name: 'stuck', arguments: { text: 'x' } };
    return version === 'v1' ? callTool(params, undefined, options) : callTool(params, options);
  };
  await expect(call({ timeout: 1 })).rejects.toThrow('timed out');
  const controller = new AbortController();
  const aborted = expect(call({ signal: controller.signal })).rejects.toThrow();
  controller.abort();
  await aborted;
  const started = once(starts, 'start');
  const cut = expect(call({})).rejects.toThrow('Connection closed');
  await started;
  await server.close();
  await cut;
  await expect(call({})).rejects.toThrow('Not connected');
  expect((await service.events(sessionId)).map(({ status }) => status)).toEqual([408, 499, 503, 503]);
});

test('records a violated output schema as a failure of the server', async () => {
  const { client, server } = await v2Client({ recorder: service.recorder(), sessionId: 'output' });
  server.server.setRequestHandler('tools/list', () => ({
    tools: [
      {
        name: 'echo',
        inputSchema: { type: 'object' },
        outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      },
    ],
  }));
  server.server.setRequestHandler('tools/call', () => ({ content: [], structuredContent: { n: 'one' } }));
  await client.listTools();
  await expect(client.callTool({ name: 'echo' })).rejects.toThrow('output schema');
  expect(await service.events('output')).toMatchObject([{ status: 500 }]);
});

test('applies the guard of a second actlog(), and records one event per call', async () => {
  const recorder = service.recorder();
  const options = { recorder, sessionId: 'second-guard' };
  const { client, ran } = await v1Client(options);
  actlog(client, { ...options, guard: { mode: 'enforce', onUnavailable: 'deny' } });
  expect(await client.callTool({ name: 'fail', arguments: { text: 'a' } })).toMatchObject({ isError: true });
  expect(ran).toEqual([]);
  expect(await service.events('second-guard')).toMatchObject([{ toolName: 'fail', status: 403 }]);
});

test('records an invalid result as a failure of the server', async () => {
  const server = v1.emptyServer();
  server.registerTool('broken', { description: 'Answers amiss.' }, (() => ({ content: 'no list' })) as never);
  const recorder = service.recorder();
  actlog(server, { recorder, sessionId: 'no-result-server' });
  const client = v1.newClient();
  await v1.connectInMemory(client, server);
  await client.callTool({ name: 'broken' }).catch(() => {}); // with the oldest SDK, the client has to reject the result
  expect((await service.events('no-result-server')).filter(({ status }) => status === 400)).toEqual([]);

  const careful = actlog(v1.newClient(), { recorder, sessionId: 'no-result-client' });
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  serverSide.onmessage = (message) => {
    if (!('id' in message && 'method' in message)) return;
    const { protocolVersion } = message.params ?? {};
    const info = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } };
    const result = message.method === 'initialize' ? info : { content: 'no list' };
    void serverSide.send({ jsonrpc: '2.0', id: message.id, result });
  };
  await serverSide.start();
  await careful.connect(clientSide);
  await expect(careful.callTool({ name: 'broken' })).rejects.toThrow('array');
  expect(await service.events('no-result-client')).toMatchObject([{ status: 500 }]);
});
