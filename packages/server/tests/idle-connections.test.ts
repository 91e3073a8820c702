import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { newApiKey } from '../src/keys/api-key.ts';
import { ChildServer } from './child-server.ts';
import { activityEvent } from './test-server.ts';

/** Files that a process may have open; a connection is one in each of the two processes. */
const { hard } = (
  process.report.getReport() as unknown as { userLimits: { open_files: { hard: number | 'unlimited' } } }
).userLimits.open_files;

const wanted = 10_000;
const spareFiles = 500;
const connections = hard === 'unlimited' ? wanted : Math.min(wanted, hard - spareFiles);

/** Connections that are asked for at once: a listener's backlog holds 511. */
const wave = 250;

test(`${connections} idle connections keep nobody out, and each of them still works`, {
  timeout: 60_000,
}, async () => {
  const apiKey = newApiKey('test');
  const server = await ChildServer.start({ apiKey, docs: false });
  const { hostname, port } = new URL(server.url);
  const sockets: Socket[] = [];
  try {
    while (sockets.length < connections) {
      const size = Math.min(wave, connections - sockets.length);
      const next = Array.from({ length: size }, () => connect(Number(port), hostname));
      await Promise.all(next.map((socket) => once(socket, 'connect')));
      sockets.push(...next);
    }
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const body = JSON.stringify(activityEvent());
    expect((await fetch(`${server.url}/v1/events`, { method: 'POST', headers, body })).status).toBe(202);
    const some = sockets.filter((_, index) => index % 100 === 0);
    const answers = some.map(async (socket) => {
      socket.write('GET /healthz HTTP/1.1\r\nhost: actlog\r\n\r\n');
      const [answer] = (await once(socket, 'data')) as [Buffer];
      return answer.toString('latin1').split('\r\n', 1)[0];
    });
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['HTTP/1.1 200 OK']));
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.kill();
  }
});
