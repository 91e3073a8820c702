import { Actlog, NotFoundError } from '@actlog/client';
import { backtestPolicies, getOverview, listDecisions } from '@actlog/client/server';
import { type RunningServer, startServer } from '@actlog/server';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { json, ScriptedServer } from './scripted-server.ts';

let server: RunningServer;
let client: Actlog;

beforeAll(async () => {
  server = await startServer({ docs: false });
  client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
  await client.policies.create({ name: 'no deletions', effect: 'deny', match: { tools: ['delete'] } });
  for (const [index, toolName] of ['read', 'delete', 'read', 'delete', 'write'].entries()) {
    const action = { toolName, argumentsHash: 'sha256:aa' };
    await client.policies.check({ agentId: `agent-${index}`, sessionId: 'session', action });
  }
});

afterAll(() => server.close());

it('lists all decisions over several pages, newest first', async () => {
  const decisions = await listDecisions(client, { limit: 2 }).toArray();
  expect(decisions.map(({ agentId }) => agentId)).toEqual([
    'agent-4',
    'agent-3',
    'agent-2',
    'agent-1',
    'agent-0',
  ]);
  expect(decisions[1]).toMatchObject({ decision: 'deny', toolName: 'delete', matched: [{ version: 1 }] });
});

it('filters by time, tool and decision, and ends early', async () => {
  const denied = await listDecisions(client, { decision: 'deny', since: new Date(0) }).toArray();
  expect(denied.map(({ toolName }) => toolName)).toEqual(['delete', 'delete']);
  expect(await listDecisions(client, { until: new Date(0) }).toArray()).toEqual([]);
  expect(await listDecisions(client, { limit: 1 }).take(2).toArray()).toHaveLength(2);
});

it('fails with a NotFoundError on a service without the endpoint', async () => {
  const other = await new ScriptedServer().start();
  try {
    other.script(json(404, { error: { code: 'NOT_FOUND', message: 'There is no such endpoint.' } }));
    const foreign = new Actlog({ baseURL: other.origin, apiKey: server.apiKey });
    await expect(listDecisions(foreign).toArray()).rejects.toThrow(NotFoundError);
  } finally {
    await other.stop();
  }
});

it('returns the overview of a span of time', async () => {
  const since = new Date(Date.now() - 3_600_000);
  const { totals, series, interval } = await getOverview(client, { since, interval: '5m' });
  expect(interval).toBe('5m');
  expect(totals.decisions).toEqual({ allow: 3, deny: 2, require_approval: 0 });
  expect(series.reduce((sum, { decisions }) => sum + decisions.deny, 0)).toBe(2);
  await expect(getOverview(client, { since: '2020-01-01T00:00:00Z' })).rejects.toThrow(/range|buckets/);
});

it('tries policies on the decisions', async () => {
  const policies = [{ name: 'no writes', effect: 'deny', match: { tools: ['write'] } } as const];
  expect(await backtestPolicies(client, { policies })).toMatchObject({
    decisions: 5,
    changed: 1,
    changes: [{ agentId: 'agent-4', toolName: 'write', from: 'allow', to: 'deny', policyId: 'draft_0' }],
  });
  const alone = await backtestPolicies(client, { policies, mode: 'replace', since: new Date(0) });
  expect(alone).toMatchObject({ changed: 3 });
});

it('reports the progress of a backtest, and fails with the reason of a rejected draft', async () => {
  const other = await new ScriptedServer().start();
  const lines = [
    '{"progress":{"decisions":10}}\n{"prog',
    'ress":{"decisions":20}}\n',
    '{"result":{"decisions":25}}\n',
  ];
  const draft = { policies: [{ name: 'p', effect: 'deny' } as const] };
  const own = new Actlog({ baseURL: other.origin, apiKey: server.apiKey });
  try {
    other.script((response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      for (const line of lines) response.write(line);
      response.end();
    });
    const seen: number[] = [];
    const onProgress = ({ decisions }: { decisions: number }) => seen.push(decisions);
    expect(await backtestPolicies(own, draft, { onProgress })).toEqual({ decisions: 25 });
    expect(seen).toEqual([10, 20]);
    other.script((response) => void response.writeHead(200).end(lines[0]));
    await expect(backtestPolicies(own, draft)).rejects.toThrow('The backtest ended without a result.');
  } finally {
    await other.stop();
  }
  const invalid = { policies: [{ name: 'p', effect: 'deny', condition: 'args.' } as const] };
  await expect(backtestPolicies(client, invalid)).rejects.toThrow('policies.0.condition');
});

it('keeps the digits of shown arguments, and gives numbers for all other fields', async () => {
  const other = await new ScriptedServer().start();
  const shown = '{"a":[1917043659912705297],"b":1}';
  const text = `{"items":[{"durationMs":1234567890123456789,"list":[9007199254740993],"arguments":${shown}}],"nextCursor":null}`;
  try {
    other.script((response) => response.setHeader('content-type', 'application/json').end(text));
    const foreign = new Actlog({ baseURL: other.origin, apiKey: server.apiKey });
    const [decision] = await listDecisions(foreign).toArray();
    expect(JSON.stringify(decision?.arguments)).toBe(shown);
    expect(decision).toMatchObject({ durationMs: 1234567890123456800, list: [9007199254740992] });
  } finally {
    await other.stop();
  }
});
