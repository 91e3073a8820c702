import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChildServer } from './child-server.ts';
import { HealthProbe } from './health-probe.ts';

/** Result of many requests for the largest pages of one list. */
export interface ListsResult {
  readonly list: string;
  readonly pageKilobytes: number;
  /** Time of the first page alone, and until all are here. */
  readonly oneMs: number;
  readonly allMs: number;
  /** Response times of `/healthz` meanwhile; a maximum of 100 ms is the target. */
  readonly healthzProbes: number;
  readonly healthzP99Ms: number;
  readonly healthzMaxMs: number;
}

const policies = 1000;
const checks = 200;

/** Measures a server while as many callers as `atOnce` request pages of 200 items at once, with 1,000 policies that match. */
export async function measureLists(atOnce: number): Promise<ListsResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-bench-'));
  const server = await ChildServer.start('actlog', join(folder, 'lists.db'));
  try {
    await fill(server);
    const check = { agentId: 'agent', action: { toolName: 'refund', argumentsHash: 'sha256:aa' } };
    const trial = { policies: [{ name: 'draft', effect: 'deny' }], check };
    return [
      await measure(server, atOnce, '/server/v1/decisions?limit=200'),
      await measure(server, atOnce, '/server/v1/audit?limit=200'),
      await measure(server, atOnce, '/server/v1/overview?interval=5m'),
      await measure(server, atOnce, '/v1/policies?limit=200'),
      await measure(server, atOnce, '/server/v1/trials', trial),
    ];
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

async function fill(server: ChildServer): Promise<void> {
  for (let number = 0; number < policies; number += 1) {
    await request(server, '/v1/policies', { name: `policy ${number}`, effect: 'deny', mode: 'log_only' });
  }
  for (let number = 0; number < checks; number += 1) {
    const action = { toolName: 'refund', argumentsHash: 'sha256:aa' };
    await request(server, '/v1/policies/check', { agentId: 'agent', sessionId: `s-${number}`, action });
  }
}

async function measure(
  server: ChildServer,
  atOnce: number,
  path: string,
  body?: object,
): Promise<ListsResult> {
  const probe = new HealthProbe(server.url);
  await probe.warmUp();
  const startedMs = performance.now();
  const bytes = await request(server, path, body);
  const oneMs = performance.now() - startedMs;
  const probing = probe.run();
  const allMs = performance.now();
  await Promise.all(Array.from({ length: atOnce }, () => request(server, path, body)));
  const result = {
    list: `${path}, ${atOnce} at once`,
    pageKilobytes: Math.round(bytes / 1000),
    oneMs: Math.round(oneMs),
    allMs: Math.round(performance.now() - allMs),
  };
  probe.stop();
  await probing;
  return { ...result, ...probe.result() };
}

async function request({ url, apiKey }: ChildServer, path: string, body?: object): Promise<number> {
  const response = await fetch(url + path, {
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${apiKey}`, ...(body && { 'content-type': 'application/json' }) },
  });
  if (!response.ok) throw new Error(`${path} returned ${response.status}: ${await response.text()}`);
  return (await response.arrayBuffer()).byteLength;
}
