import { mkdtempSync } from 'node:fs';
import { Pool } from 'undici';
const { Recorder } = await import('../src/index.ts');
const { DispatchTransport } = await import('../src/delivery/dispatch-transport.ts');
const { createEventPool } = await import('../src/delivery/event-pool.ts');
const { SinkProcess } = await import('/work/main/bench/recorder/sink-process.ts');
const sink = await SinkProcess.start();
const N = 20000, C = 16;
const body = JSON.stringify({ eventId: '0199e3a5-7c00-7000-8000-000000000000', agentId: 'benchmark', sessionId: 'session-100', sourceTimestamp: '2026-01-01T00:00:00.000Z', category: 'tool_api', schemaVersion: '1.0', payload: { toolName: 'search', argumentsHash: `sha256:${'0'.repeat(64)}`, responseStatus: 200 } });
const headers = { authorization: 'Bearer al_test_benchmark', 'content-type': 'application/json', 'x-service-sdk': '@actlog/recorder/0.0.0 @actlog/client/0.0.0' };
const pool = new Pool(sink.url, { connections: C, pipelining: 1 });
const A = async () => { let left = N; await Promise.all(Array.from({ length: C }, async () => { while (left-- > 0) { const r = await pool.request({ path: '/v1/events', method: 'POST', headers, body }); await r.body.dump(); } })); };
const ep = await createEventPool(sink.url, { connections: C, pipelining: 1 });
const t = new DispatchTransport({ dispatcher: ep, url: new URL(sink.url + '/v1/events'), timeoutMs: 10000, pipelining: 1 });
const keep = setInterval(() => {}, 1000);
const B = () => new Promise<void>((res) => { let left = N, done = 0; const next = () => { if (left-- > 0) t.send(body, headers, () => { if (++done === N) res(); else next(); }); }; for (let i = 0; i < C; i++) next(); });
const mk = (spool: boolean) => { const r = new Recorder({ apiKey: 'al_test_b', baseURL: sink.url, agentId: 'b', concurrency: C, maxQueuedEvents: spool ? 10000 : 100000, ...(spool ? { spoolDir: mkdtempSync('/tmp/rec/d-') } : { spool: false }) });
  return { load() { for (let i = 0; i < N; i++) r.record({ toolName: 'search', argumentsHash: `sha256:${'0'.repeat(64)}`, responseStatus: 200, sessionId: `session-${i % 200}` }); }, run: () => r.flush({ timeoutMs: 100000 }) }; };
const mem = mk(false), jr = mk(true);
const res: Record<string, number[][]> = {};
for (let round = 0; round < 6; round++) for (const [n, f, load] of [['A pool.request', A], ['B dispatch', B], ['C memory', mem.run, mem.load], ['D journal', jr.run, jr.load]] as any) {
  load?.(); globalThis.gc?.(); await sink.forget();
  const c0 = process.cpuUsage(), t0 = performance.now(); await f(); const c = process.cpuUsage(c0);
  (res[n] ??= []).push([c.user / N, c.system / N, N / (performance.now() - t0) * 1000]);
}
const med = (a: number[]) => a.sort((x, y) => x - y)[a.length >> 1]!.toFixed(1);
for (const [n, a] of Object.entries(res)) console.log(n.padEnd(16), 'user', med(a.slice(1).map((x) => x[0]!)), 'sys', med(a.slice(1).map((x) => x[1]!)), 'rate', med(a.slice(1).map((x) => x[2]!)));
clearInterval(keep); sink.stop(); process.exit();
