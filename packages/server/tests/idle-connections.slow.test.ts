import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { newApiKey } from '../src/tenants/api-key.ts';
import { ChildServer } from './child-server.ts';
import { activityEvent } from './test-server.ts';

/** Maximum open files of a process; each connection needs one in both processes. */
const { hard } = (
  process.report.getReport() as unknown as { userLimits: { open_files: { hard: number | 'unlimited' } } }
).userLimits.open_files;

const wanted = 10_000;
const spareFiles = 500;
const connections = hard === 'unlimited' ? wanted : Math.min(wanted, hard - spareFiles);

/** Connections opened at once; the backlog of a listener has room for 511. */
const wave = 250;

/** Sends a request on a connection and returns the first line of the response. */
async function statusLine(socket: Socket): Promise<string | undefined> {
  socket.write('GET /healthz HTTP/1.1\r\nhost: actlog\r\n\r\n');
  const [response] = (await once(socket, 'data')) as [Buffer];
  return response.toString('latin1').split('\r\n', 1)[0];
}

// Connections are idle after a first request: one that sends nothing is closed after ten seconds.
test(`accepts new connections beside ${connections} idle ones, which still work`, {
  timeout: 120_000,
}, async () => {
  const apiKey = newApiKey('test');
  const server = await ChildServer.start({ apiKey, docs: false });
  const { hostname, port } = new URL(server.url);
  const sockets: Socket[] = [];
  try {
    while (sockets.length < connections) {
      const size = Math.min(wave, connections - sockets.length);
      const next = Array.from({ length: size }, () => connect(Number(port), hostname));
      sockets.push(...next);
      await Promise.all(next.map((socket) => once(socket, 'connect')));
      expect(new Set(await Promise.all(next.map(statusLine)))).toEqual(new Set(['HTTP/1.1 200 OK']));
    }
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const body = JSON.stringify(activityEvent());
    expect((await fetch(`${server.url}/v1/events`, { method: 'POST', headers, body })).status).toBe(202);
    const some = sockets.filter((_, index) => index % 100 === 0);
    expect(new Set(await Promise.all(some.map(statusLine)))).toEqual(new Set(['HTTP/1.1 200 OK']));
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.kill();
  }
});
