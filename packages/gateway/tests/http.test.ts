import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Ending, ListeningGateway } from './connections.ts';
import { RawGateway, testServer } from './raw-gateway.ts';
import { TestService } from './service.ts';

let service: TestService;
const endings: Ending[] = [];
const archive: (() => PromiseLike<unknown>)[] = [];
beforeAll(async () => {
  service = await TestService.start();
});
afterEach(async () => {
  for (const policy of archive.splice(0)) await policy();
  for (const one of endings.splice(0).reverse()) await one.end();
});
afterAll(() => service.close());

const guard = ['--guard', 'enforce', '--on-unavailable', 'deny'];

/** Starts a gateway that listens, and returns its address. */
async function listen(options: readonly string[], env: Record<string, string> = service.environment()) {
  const gateway = new ListeningGateway(env, [...guard, ...options]);
  endings.push(gateway);
  return { url: (await gateway.url).href, gateway };
}

/** Starts an HTTP server as a test scripts it. */
async function upstream(handle: (request: IncomingMessage, response: ServerResponse, body: string) => void) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    handle(request, response, Buffer.concat(chunks).toString());
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  endings.push({
    end: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp?tenant=1`;
}

const accept = 'application/json, text/event-stream';

function post(url: string, body: string, headers: Record<string, string> = {}, signal?: AbortSignal) {
  const all = { 'content-type': 'application/json', accept, ...headers };
  return fetch(url, { method: 'POST', headers: all, body, signal: signal ?? null });
}

/** Returns the last message of a response, which may be a stream. */
async function messageOf(response: Response): Promise<unknown> {
  const text = await response.text();
  return JSON.parse(text.trim().split('\ndata: ').at(-1) ?? '');
}

const initialize = (name: string) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name, version: '1' } },
  });

const call = (id: number, name: string) =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } });

test('records the trace of a call from its request, and first of all from its message', async () => {
  const ofRequest = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const ofMessage = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';
  const { url } = await listen(['--agent', 'traced', '--', ...testServer('scripted-server.ts')]);
  const started = await post(url, initialize('traced'));
  await started.text();
  const session = { 'mcp-session-id': started.headers.get('mcp-session-id') ?? '' };
  const calling = async (id: number, meta: object | undefined, headers: Record<string, string>) => {
    const params = { name: 'echo', arguments: { id }, ...(meta && { _meta: meta }) };
    const message = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
    await (await post(url, message, { ...session, ...headers })).text();
  };
  await calling(1, undefined, { traceparent: ofRequest });
  await calling(2, { traceparent: ofMessage }, { traceparent: ofRequest });
  await calling(3, undefined, {});
  await calling(4, undefined, { traceparent: 'not one' });
  const [{ sessionId = '' } = {}] = await service.calls('traced', 4);
  const events = await service.client.sessions.events(sessionId).toArray({ limit: 10 });
  expect(events.map(({ traceparent }) => traceparent ?? null)).toEqual([ofRequest, ofMessage, null, null]);
});

test('passes requests and responses between HTTP peers byte for byte, with their headers', async () => {
  const seen: { method: string; url: string; session: unknown; body: string; authorization: unknown }[] = [];
  const events =
    ': hello\r\n\r\nid: 7\r\nevent: message\r\ndata: {"a": 1.0,\r\ndata:  "b": "ä"}\r\nretry: 5\r\n\r\n';
  const url = await upstream((request, response, body) => {
    const { 'mcp-session-id': session, authorization } = request.headers;
    seen.push({ method: request.method ?? '', url: request.url ?? '', session, body, authorization });
    if (request.method === 'POST') {
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'x-own': 'kept',
        'mcp-session-id': 's-1',
      });
      response.end(events);
    } else {
      response.writeHead(405, { allow: 'POST', 'content-type': 'text/plain' });
      response.end('No streams here.');
    }
  });
  const { url: gateway } = await listen(['--url', url, '--header', 'Authorization: Bearer t']);
  expect(new URL(gateway).search).toBe('?tenant=1');
  const body =
    '{ "jsonrpc":"2.0", "id":1.0,\n "method":"future/method", "params":{"n":12345678901234567890} }';
  const response = await post(gateway, body, { 'mcp-session-id': 's-1' });
  expect(await response.text()).toBe(events);
  expect(response.headers.get('x-own')).toBe('kept');
  expect(response.headers.get('mcp-session-id')).toBe('s-1');
  const stream = await fetch(gateway, { headers: { accept: 'text/event-stream' } });
  expect([stream.status, stream.headers.get('allow'), await stream.text()]).toEqual([
    405,
    'POST',
    'No streams here.',
  ]);
  const common = { url: '/mcp?tenant=1', authorization: 'Bearer t' };
  expect(seen).toEqual([
    { ...common, method: 'POST', session: 's-1', body },
    { ...common, method: 'GET', session: undefined, body: '' },
  ]);
});

test('denies a call between HTTP peers, and gives a call without a session a session of its own', async () => {
  archive.push(await service.policy('deny', ['fail']));
  let requests = 0;
  const url = await upstream((_request, response, body) => {
    requests += 1;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(body).id, result: { content: [] } }));
  });
  const { url: gateway } = await listen(['--url', url, '--agent', 'without-session']);
  const denied = await (await post(gateway, call(1, 'fail'))).json();
  expect(denied).toMatchObject({ id: 1, result: { isError: true } });
  for (const id of [2, 3]) await (await post(gateway, call(id, 'echo'))).text();
  expect(requests).toBe(2);
  const calls = await service.calls('without-session', 3);
  expect(new Set(calls.map(({ sessionId }) => sessionId)).size).toBe(3);
});

test('never forwards a held call whose HTTP client disconnects', async () => {
  archive.push(await service.policy('require_approval', ['echo']));
  const bodies: string[] = [];
  const url = await upstream((_request, response, body) => {
    bodies.push(body);
    response.writeHead(202).end();
  });
  const { url: gateway } = await listen(['--url', url, '--agent', 'disconnected']);
  const abort = new AbortController();
  const held = post(gateway, call(1, 'echo'), {}, abort.signal);
  held.catch(() => {});
  await service.held('disconnected');
  abort.abort();
  expect(await service.calls('disconnected', 1)).toMatchObject([{ toolName: 'echo', status: 499 }]);
  await service.approve('disconnected');
  await (await post(gateway, '{"jsonrpc":"2.0","method":"notifications/x"}')).text();
  expect(bodies).toEqual(['{"jsonrpc":"2.0","method":"notifications/x"}']);
});

test('records the status of an HTTP server that rejects a call, or cannot be reached', async () => {
  const url = await upstream((request, response) => {
    if (request.headers['x-gone']) request.socket.destroy();
    else response.writeHead(429, { 'content-type': 'text/plain' }).end('Slow down.');
  });
  const { url: gateway } = await listen(['--url', url, '--agent', 'rejected']);
  const rejected = await post(gateway, call(1, 'echo'));
  expect([rejected.status, await rejected.text()]).toEqual([429, 'Slow down.']);
  const unreachable = await post(gateway, call(2, 'echo'), { 'x-gone': '1' });
  expect(await unreachable.json()).toMatchObject({ id: 2, error: { code: -32000 } });
  expect((await service.calls('rejected', 2)).map(({ status }) => status).sort()).toEqual([429, 503]);
});

test('has a server for each session of HTTP clients, and ends it with the session', async () => {
  const { url } = await listen(['--', ...testServer('scripted-server.ts')]);
  const ids: string[] = [];
  for (const name of ['first', 'second']) {
    const response = await post(url, initialize(`session-${name}`));
    expect(await messageOf(response)).toMatchObject({ id: 0, result: { serverInfo: { name: 'scripted' } } });
    ids.push(response.headers.get('mcp-session-id') ?? '');
  }
  const [first = '', second = ''] = ids;
  const crashed = await post(url, call(1, 'crash'), { 'mcp-session-id': first });
  expect(await messageOf(crashed)).toMatchObject({
    id: 1,
    error: { message: expect.stringContaining('exit code 7') },
  });
  await expect
    .poll(async () => (await post(url, call(2, 'echo'), { 'mcp-session-id': first })).status)
    .toBe(404);
  const echoed = await post(url, call(3, 'echo'), { 'mcp-session-id': second });
  expect(await messageOf(echoed)).toMatchObject({ id: 3 });
  expect((await fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': second } })).status).toBe(200);
  expect((await post(url, call(4, 'echo'), { 'mcp-session-id': second })).status).toBe(404);
  expect(await service.calls('session-first', 1)).toMatchObject([{ sessionId: first, status: 503 }]);
  expect(await service.calls('session-second', 1)).toMatchObject([{ sessionId: second, status: 200 }]);
});

test('sends the headers of a call that takes long, or waits for a person', async () => {
  const { url } = await listen(['--', ...testServer('scripted-server.ts')]);
  const begun = await post(url, initialize('slow'));
  const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
  const left = new AbortController();
  const slow = await post(url, call(1, 'silent'), session, left.signal);
  expect([slow.status, slow.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  left.abort();

  archive.push(await service.policy('require_approval', ['echo']));
  const server = await upstream((_request, response) => response.writeHead(202).end());
  const { url: proxy } = await listen(['--url', server, '--agent', 'held-headers']);
  const leaving = new AbortController();
  const held = await post(proxy, call(2, 'echo'), {}, leaving.signal);
  expect(held.headers.get('content-type')).toBe('text/event-stream');
  leaving.abort();
});

test.each([
  ['without a session', {}, '{"jsonrpc":"2.0","id":1,"method":"ping"}', 400, 'send initialize first'],
  [
    'in an unknown session',
    { 'mcp-session-id': 'x' },
    '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    404,
    'does not exist',
  ],
  ['that is not JSON', {}, 'x', 400, 'not JSON'],
  ['of a web page', { origin: 'https://evil.example' }, initialize('page'), 403, 'web pages'],
])('rejects a request %s', async (_title, headers, body, status, message) => {
  const { url } = await listen(['--', ...testServer('scripted-server.ts')]);
  const response = await post(url, body, headers as Record<string, string>);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining(message) } });
});

test('reports a server whose command cannot be started', async () => {
  const { url } = await listen(['--', 'no-such-command']);
  const response = await post(url, initialize('no-command'));
  expect(response.status).toBe(502);
  expect(await response.text()).toContain('no-such-command, could not be started');
});

test('rejects a request for another host, as after DNS rebinding', async () => {
  const { url } = await listen(['--', ...testServer('scripted-server.ts')]);
  const { port } = new URL(url);
  const status = await new Promise((resolve) => {
    request({ port, path: '/mcp', method: 'POST', headers: { host: 'evil.example' } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).end('{}');
  });
  expect(status).toBe(403);
});

test('delivers the calls of HTTP clients before SIGTERM ends it, with its servers', async () => {
  const { url, gateway } = await listen(['--', ...testServer('scripted-server.ts')]);
  const response = await post(url, initialize('terminated'));
  const headers = { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' };
  await (await post(url, call(1, 'echo'), headers)).text();
  await gateway.end();
  expect(await service.calls('terminated', 1)).toMatchObject([{ toolName: 'echo', status: 200 }]);
});

test('reports an HTTP server that cannot be reached to a client that is connected by stdio', async () => {
  const args = ['--url', 'http://127.0.0.1:9/mcp', '--agent', 'no-server'];
  const gateway = RawGateway.run(service.environment(), args);
  gateway.call(1, 'echo', { secret: 's3cret' });
  const { error } = await gateway.message(({ id }) => id === 1);
  expect(error).toMatchObject({
    code: -32000,
    message: expect.stringContaining('could not be reached (ECONNREFUSED)'),
  });
  expect(await gateway.end()).toEqual({ code: 0, signal: null });
  expect(gateway.stderr).toBe('');
  expect(await service.calls('no-server', 1)).toMatchObject([{ status: 503 }]);
});

test('resumes the stream of a response that breaks off', async () => {
  const url = await upstream((request, response, body) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (request.method === 'POST') {
      response.end(`id: e-1\ndata: {"jsonrpc":"2.0","method":"notifications/x","params":${body.length}}\n\n`);
    } else {
      const { 'last-event-id': from } = request.headers;
      response.end(`id: e-2\ndata: {"jsonrpc":"2.0","id":1,"result":{"content":[],"from":"${from}"}}\n\n`);
    }
  });
  const gateway = RawGateway.run(service.environment(), ['--url', url, '--agent', 'resumed']);
  gateway.call(1, 'echo');
  const response = await gateway.message(({ id }) => id === 1);
  expect(response.result).toMatchObject({ from: 'e-1' });
  await gateway.end();
  expect(await service.calls('resumed', 1)).toMatchObject([{ status: 200 }]);
});

test('passes nothing on to another address or with another method, and not the headers of the operator', async () => {
  const seen: string[] = [];
  const url = await upstream((request, response, body) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization} ${body}`);
    response.writeHead(202).end();
  });
  const { url: gateway } = await listen(['--url', url, '--header', 'Authorization: Bearer operator']);
  const raw = (method: string, path: string, headers: Record<string, string> = {}) =>
    new Promise<number | undefined>((resolve, reject) => {
      const { port } = new URL(gateway);
      const body = call(1, 'echo');
      const all = { ...headers, 'content-length': String(body.length) };
      const sent = request({ port, path, method, headers: all, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on('error', reject).end(body);
    });
  for (const method of ['PUT', 'PATCH', 'OPTIONS', 'HEAD']) {
    expect(await raw(method, '/mcp?tenant=1')).toBe(405);
  }
  for (const path of [
    '/admin',
    '/mcp',
    '/mcp?tenant=2',
    '/mcp/../admin?tenant=1',
    '//evil.example/mcp?tenant=1',
    'munity://x/mcp',
    'http://evil.example/mcp?tenant=1',
  ]) {
    expect(await raw('POST', path, { 'content-type': 'application/json' })).toBe(404);
  }
  expect(seen).toEqual([]);
  expect(await raw('GET', '/mcp?tenant=1', { 'x-http-method-override': 'POST' })).toBe(202);
  expect(seen).toEqual(['GET /mcp?tenant=1 Bearer operator ']);
});

test('refuses a message that the server may decode in another way, while it guards', async () => {
  const seen: string[] = [];
  const url = await upstream((_request, response, body) => {
    seen.push(body);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"jsonrpc":"2.0","id":1,"result":{"content":[]}}');
  });
  const { url: gateway } = await listen(['--url', url, '--agent', 'decoded']);
  const refused = [
    { 'content-type': 'application/json; charset=utf-7' },
    { 'content-type': 'application/json; charset=utf-8; charset=utf-7' },
    { 'content-type': 'application/json;charset=UTF-16LE' },
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-encoding': 'br' },
  ];
  for (const headers of refused)
    expect((await post(gateway, call(1, 'echo'), headers as never)).status).toBe(415);
  const others = [
    { 'mcp-name': 'delete_user' },
    { 'mcp-method': 'ping' },
    { 'mcp-name': '=?base64?ZGVsZXRl?=' },
  ];
  for (const headers of others)
    expect((await post(gateway, call(1, 'echo'), headers as never)).status).toBe(400);
  expect(seen).toEqual([]);
  const accepted = [
    { 'content-type': 'application/json; charset=utf-8' },
    { 'content-type': 'application/json;charset="UTF-8"' },
    { 'mcp-name': 'echo', 'mcp-method': 'tools/call' },
    { 'mcp-name': '=?base64?ZWNobw==?=' },
  ];
  for (const headers of accepted) await (await post(gateway, call(1, 'echo'), headers as never)).text();
  expect(seen).toHaveLength(accepted.length);
});

test('replaces a session that the server has forgotten, and repeats the message once', async () => {
  const sessions = ['first', 'second'];
  const seen: string[] = [];
  const url = await upstream((request, response, body) => {
    const { method, id } = (body ? JSON.parse(body) : {}) as { method?: string; id?: number };
    const session = request.headers['mcp-session-id'];
    if (request.method !== 'POST') response.writeHead(405).end();
    else if (method === 'initialize') {
      seen.push('initialize');
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': sessions.shift() });
      response.end(
        `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"protocolVersion":"2025-06-18","capabilities":{}}}`,
      );
    } else if (id === undefined) {
      seen.push(`${method} ${session}`);
      response.writeHead(202).end();
    } else if (session === 'second') {
      seen.push(`${method} second`);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"jsonrpc":"2.0","id":${id},"result":{"content":[]}}`);
    } else {
      seen.push(`${method} 404`);
      response.writeHead(404).end();
    }
  });
  const gateway = RawGateway.run(service.environment(), ['--url', url, '--agent', 'forgotten']);
  await gateway.initialize('forgotten');
  gateway.call(1, 'echo');
  expect((await gateway.message(({ id }) => id === 1)).result).toEqual({ content: [] });
  gateway.call(2, 'echo');
  await gateway.message(({ id }) => id === 2);
  await gateway.end();
  const initialized = 'notifications/initialized';
  expect(seen.filter((one) => !one.startsWith('undefined'))).toEqual([
    'initialize',
    `${initialized} first`,
    'tools/call 404',
    'initialize',
    `${initialized} second`,
    'tools/call second',
    'tools/call second',
  ]);
  expect(gateway.lines.filter((line) => line.includes('protocolVersion'))).toHaveLength(1);
  expect(await service.calls('forgotten', 2)).toMatchObject([{ status: 200 }, { status: 200 }]);
});

test('reports a session that the server does not take again', async () => {
  let requests = 0;
  const url = await upstream((request, response, body) => {
    requests += 1;
    const { id, method } = (body ? JSON.parse(body) : {}) as { id?: number; method?: string };
    if (method !== 'initialize') response.writeHead(request.method === 'POST' ? 404 : 405).end();
    else {
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': `s-${requests}` });
      response.end(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
    }
  });
  const gateway = RawGateway.run(service.environment(), ['--url', url, '--agent', 'refused']);
  gateway.send(JSON.parse(initialize('refused')));
  await gateway.message(({ id }) => id === 0);
  gateway.call(1, 'echo');
  const { error } = await gateway.message(({ id }) => id === 1);
  expect(error).toMatchObject({ message: expect.stringContaining('HTTP 404') });
  await gateway.end();
});
