import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { atTestEnd } from './test-end.ts';
import { activityEvent, type TestServer, testServer } from './test-server.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** More than the buffers between two sockets hold, so that a response of this size waits for its reader. */
const wantedBytes = 16_000_000;

async function fillSession(server: TestServer): Promise<void> {
  const payload = { text: 'x'.repeat(200_000) };
  const body = () => activityEvent({ category: 'note', payload });
  const events = Array.from({ length: wantedBytes / 200_000 }, () =>
    server.ok('events.create', { body: body() }),
  );
  await Promise.all(events);
}

/** Requests the export of a session, and reads only what arrives by itself. */
async function askForExport(server: TestServer): Promise<Socket> {
  const { hostname, port } = new URL(server.server.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  atTestEnd(async () => void socket.destroy());
  const authorization = `authorization: Bearer ${server.apiKey}`;
  socket.write(`GET /v1/sessions/thread-1/export.json HTTP/1.1\r\nhost: x\r\n${authorization}\r\n\r\n`);
  await once(socket, 'readable');
  return socket;
}

/** Returns the rest that arrives until the connection ends. */
async function rest(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('latin1').on('data', (piece) => {
    text += piece;
  });
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

test('disconnects a client that does not read its response when the server closes', async () => {
  const server = await testServer({});
  await fillSession(server);
  const socket = await askForExport(server);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const closed = server.server.close();
  await vi.advanceTimersByTimeAsync(10_000);
  vi.useRealTimers();
  await closed;
  expect(await rest(socket)).not.toContain('"contentSha256"');
});

test('sends the whole response to a client that reads it when the server closes', async () => {
  const server = await testServer({});
  await fillSession(server);
  const socket = await askForExport(server);
  const closed = server.server.close();
  expect(await rest(socket)).toContain('"contentSha256"');
  await closed;
});

test('does not wait for a connection that a browser opened in advance when the server closes', async () => {
  const server = await testServer({});
  const { hostname, port } = new URL(server.server.url);
  const [unused, uploading] = [connect(Number(port), hostname), connect(Number(port), hostname)];
  atTestEnd(async () => void uploading.destroy());
  const head = `POST /v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.apiKey}\r\n`;
  const body = JSON.stringify(activityEvent());
  uploading.write(`${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n{`);
  await once(uploading, 'connect');
  await server.ok('agents.list'); // both are accepted by now
  const closed = server.server.close();
  // While a request is in progress, the server has not closed. If it waited for the connection, both would be cut off.
  await once(unused, 'close');
  uploading.write(body.slice(1));
  expect(await rest(uploading)).toContain('HTTP/1.1 202');
  await closed;
});
