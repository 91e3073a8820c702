import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { testServer } from './test-server.ts';

/** The parts of Grafana's dashboard model (`schemaVersion` 39) that an import needs. */
const dashboardModel = z.object({
  uid: z.string().max(40),
  title: z.string(),
  schemaVersion: z.literal(39),
  time: z.object({ from: z.string(), to: z.string() }),
  templating: z.object({
    list: z.array(z.object({ name: z.string(), type: z.enum(['datasource', 'query']) })),
  }),
  annotations: z.object({ list: z.array(z.unknown()) }),
  panels: z.array(
    z.object({
      id: z.int(),
      type: z.enum(['timeseries', 'stat']),
      title: z.string(),
      datasource: z.object({ type: z.literal('prometheus'), uid: z.string().startsWith('$') }),
      gridPos: z.object({ x: z.int(), y: z.int(), w: z.int().max(24), h: z.int() }),
      targets: z.array(z.object({ refId: z.string(), expr: z.string(), legendFormat: z.string() })).min(1),
      fieldConfig: z.object({ defaults: z.object({ unit: z.string() }), overrides: z.array(z.unknown()) }),
    }),
  ),
});

async function dashboard() {
  const file = new URL('../../../dashboards/grafana.json', import.meta.url);
  return dashboardModel.parse(JSON.parse(await readFile(file, 'utf8')));
}

test('the Grafana dashboard has the model that Grafana imports, and panels that do not overlap', async () => {
  const { panels } = await dashboard();
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
});

test('every query of the Grafana dashboard reads metrics of a running server', async () => {
  const { server } = await testServer();
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const names = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name as string));
  const known = (name: string) => names.has(name.replace(/_(?:bucket|sum|count)$/, '')) || names.has(name);
  for (const { title, targets } of (await dashboard()).panels) {
    for (const { expr } of targets) {
      const used = expr.match(/\b(?:actlog|process)_\w+/g) ?? [];
      expect([title, used.length > 0, used.filter((name) => !known(name))]).toEqual([title, true, []]);
      const values = [...expr.matchAll(/,(\w+)="(\w+)"/g)].map(([, label, value]) => `${label}="${value}"`);
      expect([title, values.filter((value) => !text.includes(value))]).toEqual([title, []]);
    }
  }
});

/** Returns the value of a series in the text of `/metrics`. */
async function metric(url: string, series: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return Number(line?.split(' ')[1]);
}

test('counts decisions, held actions, levels and deliveries', async () => {
  const server = await testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
  const { url } = server.server;
  await server.ok('notificationChannels.create', { body: { url: 'http://127.0.0.1:9/hook' } });
  await server.policy({ effect: 'require_approval', match: { tools: ['refund'] } });
  const held = await server.check();
  await server.check({}, { prefer: 'dry-run' });
  await server.ok('guardian.pendingActions.decide', {
    id: held.pendingActionId as string,
    body: { decision: 'deny' },
  });
  for (const toolName of [
    'fetch_web_page',
    'read_secrets',
    'list_customers',
    'send_email',
    'delete_audit_log',
  ]) {
    const payload = { toolName, argumentsHash: 'sha256:aa', responseStatus: 200 };
    await server.record({ sessionId: 'compromised', payload });
  }
  await server.ok('sessions.list');
  expect(await metric(url, 'actlog_decisions_total{decision="require_approval"}')).toBe(1);
  expect(await metric(url, 'actlog_decisions_total{decision="deny"}')).toBe(0);
  expect(await metric(url, 'actlog_held_actions_total')).toBe(1);
  expect(await metric(url, 'actlog_held_actions_ended_total{status="denied"}')).toBe(1);
  expect(await metric(url, 'actlog_sessions_scored_total{level="medium"}')).toBe(1);
  await expect
    .poll(() => metric(url, 'actlog_webhook_deliveries_total{outcome="retrying"}'))
    .toBeGreaterThan(0);
});
