import { type Service, startSuiteService } from '@actlog/adapter-suite';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler, InMemoryTransport, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { listenFetch } from '../tests/http-listener.ts';
import { actlog } from './index.ts';

let service: Service;
const open: { close(): Promise<void> }[] = [];
beforeAll(async () => {
  service = await startSuiteService();
});
afterEach(async () => {
  for (const part of open.splice(0)) await part.close();
});
afterAll(() => service.close());

/**
 * Creates a server whose tool `echo` requests user input once before it returns; `echo` needs approval where guarded.
 */
function askingServer(ran: string[]): McpServer {
  const server = new McpServer({ name: 'tools', version: '1.0.0' });
  const inputSchema = z.object({ text: z.string() });
  server.registerTool('echo', { description: 'Asks, and answers.', inputSchema }, ({ text }, { mcpReq }) => {
    ran.push(mcpReq.inputResponses ? `answers ${text}` : `asks ${text}`);
    if (mcpReq.inputResponses) return { content: [{ type: 'text', text: `echo: ${text}` }] };
    const requestedSchema = { type: 'object' as const, properties: { sure: { type: 'boolean' as const } } };
    return inputRequired({
      inputRequests: { sure: inputRequired.elicit({ message: 'Sure?', requestedSchema }) },
    });
  });
  return server;
}

function answeringClient(): Client {
  const client = new Client(
    { name: 'agent', version: '1.0.0' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' } },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { sure: true } }));
  return client;
}

/** Connects over HTTP with one server per request, as in revision 2026-07-28. */
async function connectOverHttp(client: Client, serve: () => McpServer) {
  const handler = createMcpHandler(serve, { legacy: 'reject' });
  const listener = await listenFetch((request) => handler.fetch(request));
  open.push(client, listener);
  await client.connect(new StreamableHTTPClientTransport(listener.url));
}

const echo = { name: 'echo', arguments: { text: 'x' } };
const answer = { content: [{ type: 'text', text: 'echo: x' }] };

test('records one event in the client', async () => {
  const options = { recorder: service.recorder(), sessionId: 'client' };
  const ran: string[] = [];
  const client = actlog(answeringClient(), options);
  await connectOverHttp(client, () => askingServer(ran));
  expect(await client.callTool(echo)).toMatchObject(answer);
  expect(ran).toEqual(['asks x', 'answers x']);
  expect(await service.events('client')).toMatchObject([{ toolName: 'echo', status: 200 }]);
});

test('records one event with one approval in the server for a call in two requests', async () => {
  const options = { recorder: service.guarded(), sessionId: 'server' };
  const ran: string[] = [];
  const client = answeringClient();
  await connectOverHttp(client, () => actlog(askingServer(ran), options));
  const call = client.callTool(echo);
  await service.decide('server', 'approve');
  expect(await call).toMatchObject(answer);
  expect(ran).toEqual(['asks x', 'answers x']);
  const events = await service.events('server');
  expect(events).toMatchObject([{ toolName: 'echo', status: 200 }]);
  const { pendingActions } = service.client.guardian;
  const approved = await pendingActions
    .list({ sessionId: 'server', status: 'approved' })
    .toArray({ limit: 5 });
  expect(approved).toHaveLength(1);
});

test('records one event on a connection of an earlier revision', async () => {
  const options = { recorder: service.recorder(), sessionId: 'earlier' };
  const ran: string[] = [];
  const server = actlog(askingServer(ran), options);
  const client = answeringClient();
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  await server.connect(serverSide);
  await client.connect(clientSide);
  open.push(client);
  expect(await client.callTool(echo)).toMatchObject(answer);
  expect(ran).toEqual(['asks x', 'answers x']);
  expect(await service.events('earlier')).toMatchObject([{ toolName: 'echo', status: 200 }]);
});

test('records one event with one approval in a client that responds automatically', async () => {
  const options = { recorder: service.guarded(), sessionId: 'by-hand' };
  const ran: string[] = [];
  const client = actlog(answeringClient(), options);
  await connectOverHttp(client, () => askingServer(ran));
  const asking = client.callTool(echo, { allowInputRequired: true } as never);
  await service.decide('by-hand', 'approve');
  expect(await asking).toMatchObject({ resultType: 'input_required' });
  expect(await service.events('by-hand')).toEqual([]);
  const inputResponses = { sure: { action: 'accept', content: { sure: true } } };
  expect(await client.callTool({ ...echo, inputResponses } as never)).toMatchObject(answer);
  expect(ran).toEqual(['asks x', 'answers x']);
  expect(await service.events('by-hand')).toMatchObject([{ status: 200 }]);
});

test('records one event with one approval in a client and a server that see both requests', async () => {
  const ran: string[] = [];
  const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;
  const serverRecorder = service.recorder({ agentId: 'server', guard });
  const client = actlog(answeringClient(), { recorder: service.guarded(), sessionId: 'both-sides' });
  await connectOverHttp(client, () => actlog(askingServer(ran), { recorder: serverRecorder }));
  const call = client.callTool(echo);
  await service.decide('both-sides', 'approve');
  expect(await call).toMatchObject(answer);
  expect(ran).toEqual(['asks x', 'answers x']);
  expect(await service.callLines('both-sides')).toEqual(['tester echo 200']);
  const { pendingActions } = service.client.guardian;
  const approved = await pendingActions
    .list({ sessionId: 'both-sides', status: 'approved' })
    .toArray({ limit: 5 });
  expect(approved).toHaveLength(1);
  expect(serverRecorder.stats()).toMatchObject({ delivered: 1, guard: { allowed: 2 } });
});
