import { type Service, startSuiteService } from '@actlog/adapter-suite';
import { Server as V1Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Server as V2Server } from '@modelcontextprotocol/server';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import {
  type AnyClient,
  type Closable,
  connectInMemory,
  connectWithoutSession,
  connectWithSession,
  type Generation,
  sdks,
} from '../tests/pairs.ts';
import { type ActlogOptions, actlog } from './index.ts';

let service: Service;
const open: Closable[] = [];
beforeAll(async () => {
  service = await startSuiteService();
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const part of open.splice(0)) await part.close();
});
afterAll(() => service.close());

/** Time after which a call counts as given up, in milliseconds. */
const maxWaitMs = 10 * 60_000;

const generations = ['v1', 'v2'] as const;
const book = { name: 'book', arguments: { room: 5 } };
const elicitation = {
  mode: 'url',
  elicitationId: '1',
  url: 'https://example.com/pay',
  message: 'Pay first.',
};

/** Creates a server whose tool needs the user to pay before its second call. */
function payingServer(
  generation: Generation,
  options?: ActlogOptions,
  paid: { value: boolean } = { value: false },
) {
  return () => {
    const info = { name: 'hotel', version: '1.0.0' };
    const server =
      generation === 'v1'
        ? new V1Server(info, { capabilities: { tools: {} } })
        : new V2Server(info, { capabilities: { tools: {} } });
    const handle = () => {
      if (paid.value) return { content: [{ type: 'text' as const, text: 'booked' }] };
      throw Object.assign(new Error('Pay first.'), { code: -32042, data: { elicitations: [elicitation] } });
    };
    if (server instanceof V1Server) server.setRequestHandler(CallToolRequestSchema, handle);
    else server.setRequestHandler('tools/call', handle);
    return (options ? actlog(server, options) : server) as never;
  };
}

function newClient(generation: Generation, options?: ActlogOptions): AnyClient {
  const client = sdks[generation].newClient() as AnyClient;
  return options ? actlog(client, options) : client;
}

const both = (generation: Generation) => ({ client: generation, server: generation });

test.each(generations)(
  '%s: a call and its repetition are one event, in the client and in the server',
  async (generation) => {
    const sessionId = `repeated ${generation}`;
    const client = newClient(generation, { recorder: service.recorder(), sessionId });
    const paid = { value: false };
    const create = payingServer(generation, { recorder: service.recorder({ agentId: 'server' }) }, paid);
    open.push(...(await connectWithSession(client, both(generation), create)));
    await expect(client.callTool(book)).rejects.toMatchObject({ code: -32042 });
    await expect(client.callTool(book)).rejects.toMatchObject({ code: -32042 });
    paid.value = true;
    expect(await client.callTool(book)).toMatchObject({ content: [{ text: 'booked' }] });
    await client.close();
    expect(await service.callLines(sessionId)).toEqual(['tester book 200']);
  },
);

test.each(generations)(
  '%s: a call that is not repeated is recorded as given up when the client is closed',
  async (generation) => {
    const sessionId = `closed ${generation}`;
    const client = newClient(generation, { recorder: service.recorder(), sessionId });
    open.push(...(await connectInMemory(client, payingServer(generation))));
    await expect(client.callTool(book)).rejects.toMatchObject({ code: -32042 });
    expect(await service.events(sessionId)).toEqual([]);
    await client.close();
    expect(await service.callLines(sessionId)).toEqual(['tester book 499']);
  },
);

test.each(generations)(
  '%s: it is one event of client and server when both give it up',
  async (generation) => {
    const sessionId = `both ${generation}`;
    const serverRecorder = service.recorder({ agentId: 'server' });
    const client = newClient(generation, { recorder: service.recorder(), sessionId });
    const parts = await connectWithSession(
      client,
      both(generation),
      payingServer(generation, { recorder: serverRecorder }),
    );
    await expect(client.callTool(book)).rejects.toMatchObject({ code: -32042 });
    for (const part of parts) await part.close();
    expect(await service.callLines(sessionId)).toEqual(['tester book 499']);
    expect(serverRecorder.stats().delivered).toBe(1);
  },
);

test('a call that is not repeated is recorded as given up after ten minutes, and a later call is another', async () => {
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const client = newClient('v2', { recorder: service.recorder(), sessionId: 'late' });
  const paid = { value: false };
  open.push(...(await connectInMemory(client, payingServer('v2', undefined, paid))));
  await expect(client.callTool(book)).rejects.toMatchObject({ code: -32042 });
  const [giveUp] = timers.mock.calls.find(([, delayMs]) => delayMs === maxWaitMs) ?? [];
  giveUp?.();
  paid.value = true;
  await client.callTool(book);
  expect((await service.callLines('late')).sort()).toEqual(['tester book 200', 'tester book 499']);
});

test('a call that is not repeated is recorded at the natural end of the process', async () => {
  const client = newClient('v1', { recorder: service.recorder(), sessionId: 'ended' });
  open.push(...(await connectInMemory(client, payingServer('v1'))));
  await expect(client.callTool(book)).rejects.toMatchObject({ code: -32042 });
  process.emit('beforeExit', 0);
  expect(await service.callLines('ended')).toEqual(['tester book 499']);
});

test('a server without sessions recognizes the repetition', async () => {
  const paid = { value: false };
  const recorder = service.recorder({ agentId: 'stateless hotel' });
  const client = newClient('v2');
  open.push(...(await connectWithoutSession(client, both('v2'), payingServer('v2', { recorder }, paid))));
  await expect(client.callTool(book)).rejects.toMatchObject({ code: -32042 });
  paid.value = true;
  await client.callTool(book);
  process.emit('beforeExit', 0);
  await recorder.flush();
  const sessions = await service.client.agents.sessions('stateless hotel').toArray({ limit: 5 });
  expect(sessions).toMatchObject([{ eventCount: 1, errorCount: 0 }]);
});

test('other arguments, another tool or another chat are no repetition', async () => {
  const recorder = service.recorder();
  const client = newClient('v2', { recorder });
  open.push(...(await connectInMemory(client, payingServer('v2'))));
  const attempt = (chat: string, params: typeof book) =>
    recorder.session(chat).run(() => expect(client.callTool(params)).rejects.toMatchObject({ code: -32042 }));
  await attempt('first chat', book);
  await attempt('second chat', book);
  await attempt('first chat', { ...book, arguments: { room: 6 } });
  await attempt('first chat', { ...book, name: 'cancel' });
  await client.close();
  expect((await service.callLines('first chat')).sort()).toEqual([
    'tester book 499',
    'tester book 499',
    'tester cancel 499',
  ]);
  expect(await service.callLines('second chat')).toEqual(['tester book 499']);
});
