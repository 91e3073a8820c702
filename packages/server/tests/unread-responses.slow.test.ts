import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { newApiKey } from '../src/tenants/api-key.ts';
import { ChildServer } from './child-server.ts';
import { atTestEnd } from './test-end.ts';
import { activityEvent, checkBody, type TestServer, testServer } from './test-server.ts';

/** Bytes of a page; a few pages exceed the buffers between two sockets. */
const pageBytes = 1_000_000;

/** Registers agents that make one page of the list. */
async function fillAgents(server: TestServer): Promise<void> {
  for (let index = 0; index < 4; index += 1) {
    const metadata = { text: 'x'.repeat(pageBytes / 4) };
    await server.ok('agents.create', { body: { name: `agent ${index}`, metadata } });
  }
}

/** Connects without reading. */
function attacker(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).pause();
  socket.on('error', () => {});
  atTestEnd(async () => void socket.destroy());
  return socket;
}

function getText(path: string, apiKey: string): string {
  return `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${apiKey}\r\n\r\n`;
}

/** Reads everything that arrives until the server closes the connection. */
async function rest(socket: Socket): Promise<string> {
  let text = '';
  socket
    .setEncoding('latin1')
    .on('data', (piece) => {
      text += piece;
    })
    .resume();
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

/** Resolves when the server has closed the connection, which a write detects without reading. */
async function closed(socket: Socket): Promise<void> {
  await vi.waitFor(
    () => {
      socket.write('\r\n');
      expect(socket.destroyed).toBe(true);
    },
    { timeout: 25_000, interval: 100 },
  );
}

function statuses(text: string): string[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status as string);
}

async function requestCount(server: TestServer, route: string): Promise<number> {
  const text = await (await fetch(`${server.server.url}/metrics`)).text();
  const counts = text.matchAll(
    new RegExp(
      `^actlog_http_request_duration_seconds_count\\{method="GET",route="${route}",status="200"\\} (\\d+)$`,
      'gm',
    ),
  );
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

test('closes a connection whose peer pipelines requests for large pages and does not read', async () => {
  const server = await testServer({ requestTimeoutMs: 1000 });
  await fillAgents(server);
  const socket = attacker(server.server.url);
  socket.write(getText('/v1/agents', server.apiKey).repeat(100));
  await closed(socket);
  // Responses are rendered one at a time: those in the buffers between the sockets, and one that waits.
  expect(await requestCount(server, '/v1/agents')).toBeLessThan(20);
});

test('reads pipelined requests in order, and responds to all of them when their peer reads', async () => {
  const server = await testServer();
  await fillAgents(server);
  const socket = attacker(server.server.url);
  const paths = Array.from({ length: 60 }, (_, index) => (index % 3 === 0 ? '/v1/agents' : '/healthz'));
  socket.write(paths.map((path) => getText(path, server.apiKey)).join(''));
  socket.write(getText('/v1/nothing', server.apiKey).replace('\r\n', '\r\nconnection: close\r\n'));
  const text = await rest(socket);
  expect(statuses(text)).toEqual([...paths.map(() => '200'), '404']);
  expect(text.match(/"nextCursor":/g)).toHaveLength(20);
});

test('stores pipelined events together, and responds to them in order', async () => {
  const server = await testServer();
  const socket = attacker(server.server.url);
  const ids = Array.from({ length: 50 }, () => crypto.randomUUID());
  const head = `POST /v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.apiKey}\r\ncontent-type: application/json\r\n`;
  const requests = ids.map((eventId) => {
    const body = JSON.stringify(activityEvent({ eventId }));
    return `${head}content-length: ${body.length}\r\n\r\n${body}`;
  });
  socket.write(requests.join(''));
  socket.write(getText('/healthz', '').replace('\r\n', '\r\nconnection: close\r\n'));
  const text = await rest(socket);
  expect([...text.matchAll(/"eventId":"([^"]+)"/g)].map(([, id]) => id)).toEqual(ids);
  const metrics = await (await fetch(`${server.server.url}/metrics`)).text();
  const [, groups] = /^actlog_ingest_group_size_count (\d+)$/m.exec(metrics) ?? [];
  expect(Number(groups)).toBeLessThan(ids.length);
});

test('refuses a page with 503 before it is read while unread responses take the memory', async () => {
  // The tenant's half is a page and a half.
  const server = await testServer({ maxQueuedBytes: 3 * pageBytes });
  await fillAgents(server);
  await server.ok('agents.list');
  // A few pages go into the buffers between the sockets; then one waits.
  const socket = attacker(server.server.url);
  socket.write(getText('/v1/agents', server.apiKey).repeat(30));
  let rendered = 0;
  await vi.waitFor(
    async () => {
      const before = rendered;
      rendered = await requestCount(server, '/v1/agents');
      expect([rendered > 1, rendered]).toEqual([true, before]);
    },
    { timeout: 20_000, interval: 500 },
  );
  const refusal = await server.refused('agents.list');
  expect([refusal.code, refusal.headers.get('retry-after'), refusal.headers.get('connection')]).toEqual([
    'OVERLOADED',
    '1',
    'close',
  ]);
  // Unread responses of one tenant leave room for others, and for events.
  await server.server.admin.tenants.create('other');
  const other = await server.server.admin.keys.create('other', { name: 'other' });
  await server.as(other.apiKey).ok('agents.list');
  await server.record({});
  // The tenant's own checks are not refused, either.
  expect((await server.check()).decision).toBe('allow');
  socket.destroy();
  await vi.waitFor(() => server.ok('agents.list'));
});

test('closes a connection whose pipelined requests have no room beside those of another', async () => {
  const server = await testServer({ maxQueuedBytes: 100_000 });
  await server.policy({ effect: 'require_approval' });
  const get = getText('/v1/sessions', server.apiKey);
  const check = JSON.stringify(checkBody());
  const waiting = attacker(server.server.url);
  waiting.write(
    getText('/v1/policies/check', server.apiKey)
      .replace('GET', 'POST')
      .replace(
        '\r\n',
        `\r\ncontent-type: application/json\r\nprefer: wait=25\r\ncontent-length: ${check.length}\r\n`,
      ),
  );
  waiting.write(check + get.repeat(200));
  await vi.waitFor(async () => {
    expect((await server.ok('guardian.pendingActions.list')).items).toHaveLength(1);
  });
  const other = attacker(server.server.url);
  other.write(get.repeat(3));
  expect(statuses(await rest(other)).length).toBeLessThan(3);
  // A single request is always accepted.
  await server.ok('sessions.list');
});

test('survives connections that pipeline requests for large pages and never read, with a small heap', {
  timeout: 60_000,
}, async () => {
  const apiKey = newApiKey('test');
  const options = { apiKey, docs: false, requestTimeoutMs: 2000 };
  const child = await ChildServer.start(options, ['env', 'NODE_OPTIONS=--max-old-space-size=128']);
  try {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    for (let index = 0; index < 4; index += 1) {
      const body = JSON.stringify({ name: 'agent', metadata: { text: 'x'.repeat(pageBytes / 4) } });
      expect((await fetch(`${child.url}/v1/agents`, { method: 'POST', headers, body })).status).toBe(201);
    }
    const sockets = Array.from({ length: 20 }, () => attacker(child.url));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const socket of sockets) socket.write(getText('/v1/agents', apiKey).repeat(400));
    await Promise.all(sockets.map(closed));
    expect((await fetch(`${child.url}/readyz`)).status).toBe(200);
    expect((await fetch(`${child.url}/v1/agents`, { headers })).status).toBe(200);
  } finally {
    await child.kill();
  }
});
