import { type Service, startSuiteService, suiteTools } from '@actlog/adapter-suite';
import { StreamableHTTPClientTransport as V2Transport } from '@modelcontextprotocol/client';
import { StreamableHTTPClientTransport as V1Transport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { v1OverHttp, v2OverHttp } from '../tests/connections.ts';
import { listen } from '../tests/http-listener.ts';
import * as v1 from '../tests/sdk-v1.ts';
import * as v2 from '../tests/sdk-v2.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await startSuiteService();
});
afterAll(() => service.close());

test.each([
  ['v1', v1OverHttp],
  ['v2', v2OverHttp],
] as const)('%s: a client takes the session that the server gave it', async (version, connect) => {
  const sessionId = `http-session-${version}`;
  const recorder = service.recorder();
  const client = await connect({ tools: suiteTools().all, turns: [], sessionId }, (side, target) =>
    side === 'client' ? actlog(target, { recorder }) : target,
  );
  await client.call('echo', { text: 'a' });
  await client.call('fail', { text: 'a' });
  await client.call('echo', { text: 5 }).catch(() => {});
  await client.close();
  const events = await service.events(sessionId);
  expect(events.map(({ toolName, status }) => `${toolName} ${status}`)).toEqual([
    'echo 200',
    'fail 500',
    'echo 400',
  ]);
});

test.each([
  ['v1', v1OverHttp],
  ['v2', v2OverHttp],
] as const)('%s: held in the client, then aborted: nothing is sent', async (version, connect) => {
  const sessionId = `http-held-${version}`;
  const { all, ran } = suiteTools();
  const recorder = service.guarded();
  const client = await connect({ tools: all, turns: [], sessionId }, (side, target) =>
    side === 'client' ? actlog(target, { recorder }) : target,
  );
  const controller = new AbortController();
  const calling = expect(client.call('echo', { text: 'a' }, controller.signal)).rejects.toThrow('aborted');
  const { id } = await service.held(sessionId);
  controller.abort();
  await calling;
  await service.client.guardian.pendingActions.decide(id, { decision: 'approve' });
  expect(await service.events(sessionId)).toMatchObject([{ status: 499 }]);
  expect(ran).toEqual([]);
  await client.close();
});

test('records the HTTP status of a rejecting server', async () => {
  const recorder = service.recorder();
  const listener = await listen(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const { id, method } = JSON.parse(body || '{}');
    if (method === 'tools/call') return void response.writeHead(429).end('slow down');
    if (id === undefined) return void response.writeHead(method ? 202 : 405).end();
    const serverInfo = { name: 'tools', version: '1.0.0' };
    const result = { protocolVersion: '2025-03-26', capabilities: { tools: {} }, serverInfo };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
  const sessionId = 'refused';
  const first = actlog(v1.newClient(), { recorder, sessionId });
  await first.connect(new V1Transport(listener.url) as Parameters<typeof first.connect>[0]);
  await expect(first.callTool({ name: 'echo' })).rejects.toThrow('slow down');
  const second = actlog(v2.newClient(), { recorder, sessionId });
  await second.connect(new V2Transport(listener.url));
  await expect(second.callTool({ name: 'echo' })).rejects.toThrow();
  expect(await service.events(sessionId)).toMatchObject([{ status: 429 }, { status: 429 }]);
  await first.close();
  await second.close();
  await listener.close();
});
