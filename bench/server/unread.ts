import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { v7 } from 'uuid';
import { ChildServer } from './child-server.ts';
import { HealthProbe } from './health-probe.ts';

/** Result of one attack by connections that send requests and never read. */
export interface UnreadResult {
  readonly attack: string;
  readonly isAlive: boolean;
  /** Maximum memory of the process, in megabytes. */
  readonly heapMegabytes: number;
  readonly rssMegabytes: number;
  /** Longest response time of `/healthz` in the seconds before the attack, which shows other load of the machine. */
  readonly quietMaxMs: number;
  /** Response times of `/healthz` during the attack; a maximum of 100 ms is the target. */
  readonly healthzProbes: number;
  readonly healthzP99Ms: number;
  readonly healthzMaxMs: number;
  /** Attacking connections that the server has closed. */
  readonly ended: string;
  /** Time until the last of them was closed. */
  readonly seconds: number;
}

interface Attack {
  readonly name: string;
  readonly path: string;
  readonly connections: number;
  /** Requests that each connection sends at once. */
  readonly requests: number;
}

const heapMegabytes = 1024;
const requestTimeoutMs = 3000;
const longestMs = 120_000;
const quietMs = 5000;
/** Connections of the probe and of the benchmark itself, which the server keeps open. */
const otherSockets = 2;

const paths = {
  list: '/v1/agents?limit=200',
  export: '/v1/sessions/unread/export.json',
  events: '/v1/sessions/unread?limit=200',
};

/** Measures a server with a heap of 1 GiB while 3 connections, and then 1,000, request large pages and never read. */
export async function measureUnread(): Promise<UnreadResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-bench-'));
  try {
    const file = join(folder, 'unread.db');
    await fill(file);
    const results: UnreadResult[] = [];
    for (const [name, path] of Object.entries(paths)) {
      for (const [connections, requests] of [
        [3, 400],
        [1000, 4],
      ] as const) {
        results.push(await measure(file, { name, path, connections, requests }));
      }
    }
    return results;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Writes 200 agents of 5 KB each, and a session of 4 MB. */
async function fill(file: string): Promise<void> {
  const server = await ChildServer.start('actlog', file);
  const post = async (path: string, body: object) => {
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path} returned ${response.status}.`);
    await response.arrayBuffer();
  };
  for (let index = 0; index < 200; index += 1) {
    await post('/v1/agents', { name: `agent ${index}`, metadata: { text: 'x'.repeat(5000) } });
  }
  const event = {
    agentId: 'agent',
    sessionId: 'unread',
    category: 'note',
    schemaVersion: '1.0',
    payload: { text: 'x'.repeat(5000) },
  };
  for (let index = 0; index < 800; index += 1) {
    await post('/v1/events', { ...event, eventId: v7(), sourceTimestamp: new Date().toISOString() });
  }
  await server.stop();
}

async function measure(file: string, attack: Attack): Promise<UnreadResult> {
  const settings = { requestTimeoutMs };
  const server = await ChildServer.start('actlog', file, { heapMegabytes, settings });
  const probe = new HealthProbe(server.url);
  const sockets: Socket[] = [];
  try {
    await probe.warmUp();
    const quietMaxMs = await quietMaximum(server.url);
    const probing = probe.run();
    const startedMs = performance.now();
    sockets.push(...(await attackers(server, attack)));
    let heapBytes = 0;
    let rssBytes = 0;
    let open = sockets.length;
    while (server.isRunning && open > 0 && performance.now() - startedMs < longestMs) {
      await setTimeout(100);
      const usage = await Promise.race([server.usage(), setTimeout(5000, undefined)]);
      if (!usage) continue;
      heapBytes = Math.max(heapBytes, usage.heapBytes);
      rssBytes = Math.max(rssBytes, usage.rssBytes);
      open = Math.max(0, usage.sockets - otherSockets);
    }
    const seconds = (performance.now() - startedMs) / 1000;
    probe.stop();
    await probing;
    return {
      attack: `${attack.name}, ${attack.connections} × ${attack.requests}`,
      isAlive: server.isRunning,
      heapMegabytes: Math.round(heapBytes / 1e6),
      rssMegabytes: Math.round(rssBytes / 1e6),
      quietMaxMs,
      ...probe.result(),
      ended: server.isRunning ? `${sockets.length - open} of ${sockets.length}` : 'the server aborted',
      seconds: Math.round(seconds * 10) / 10,
    };
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.stop();
  }
}

/** Returns the longest response time of `/healthz` without an attack. */
async function quietMaximum(url: string): Promise<number> {
  const probe = new HealthProbe(url);
  const probing = probe.run();
  await setTimeout(quietMs);
  probe.stop();
  await probing;
  return probe.result().healthzMaxMs;
}

/** Connects, sends all requests at once on each connection, and never reads. */
async function attackers(
  { url, apiKey }: ChildServer,
  { path, connections, requests }: Attack,
): Promise<Socket[]> {
  const { hostname, port } = new URL(url);
  const text = `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${apiKey}\r\n\r\n`.repeat(requests);
  const sockets: Socket[] = [];
  while (sockets.length < connections) {
    const wave = Array.from({ length: Math.min(250, connections - sockets.length) }, () => {
      const socket = connect(Number(port), hostname).pause();
      socket.on('error', () => {});
      return socket;
    });
    await Promise.all(wave.map((socket) => once(socket, 'connect')));
    sockets.push(...wave);
  }
  for (const socket of sockets) socket.write(text);
  return sockets;
}
