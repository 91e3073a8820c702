import { randomUUID } from 'node:crypto';
import { type RunningServer, startServer } from '@actlog/server';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { actlogMock } from '../src/index.ts';
import { HttpListener } from './http-listener.ts';
import { comparable } from './twin/comparable.ts';
import { script } from './twin/script.ts';
import type { Step } from './twin/step.ts';

let server: RunningServer;
let listener: HttpListener;
const mock = actlogMock({ apiKey: 'al_test_twin' });

beforeAll(async () => {
  server = await startServer({ docs: false });
  listener = await HttpListener.start(mock);
});
afterAll(async () => {
  await listener.close();
  await server.close();
});

/** Sends the script, filling in ids from earlier responses, and returns comparable results. */
async function played(baseURL: string, apiKey: string, steps: readonly Step[]): Promise<unknown[]> {
  const found: Record<string, string> = {};
  const fill = (text: string) => text.replaceAll(/\$(\w+)/g, (_, name: string) => found[name] ?? 'nothing');
  const responses: unknown[] = [];
  for (const {
    method,
    path,
    body,
    text = JSON.stringify(body) as string | undefined,
    headers,
    keep,
  } of steps) {
    const response = await fetch(baseURL + fill(path), {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(text !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(text !== undefined && { body: fill(text) }),
    });
    const body = (await response.json()) as Record<string, unknown>;
    for (const [name, field] of Object.entries(keep ?? {})) found[name] = String(body[field]);
    responses.push({ request: `${method} ${path}`, status: response.status, body: comparable(body) });
  }
  return responses;
}

it('responds like the reference server, step by step', async () => {
  const steps = script(Array.from({ length: 12 }, () => randomUUID()));
  // The mock has one key for all agents, so revoking one of them stops no other.
  const { apiKey } = await server.admin.keys.create('default', { name: 'twin', shared: true });
  const expected = await played(server.url, apiKey, steps);
  expect(await played(listener.url, 'al_test_twin', steps)).toEqual(expected);
  expect(expected.length).toBeGreaterThan(60);
});

it('rejects a policy over the budget of the tenant like the reference server', async () => {
  const pattern = 'a'.repeat(200);
  const patterns = (count: number) => Array.from({ length: count }, () => pattern);
  const [agents, tools, frameworks, environments] = [100, 100, 100, 100].map(patterns);
  const match = { agents, tools, frameworks, environments };
  const post = (body: object, keep?: Step['keep']): Step => ({
    method: 'POST',
    path: '/v1/policies',
    body: { name: 'p', effect: 'deny', ...body },
    ...(keep && { keep }),
  });
  const costly = post({ match });
  const budget = 500_000;
  const each = 2 + 400 * 25;
  const steps: Step[] = [
    post({ match: { agents: [pattern] } }, { small: 'id' }),
    ...Array.from({ length: Math.floor(budget / each) }, () => costly),
    costly,
    { method: 'PATCH', path: '/v1/policies/$small', body: { match } },
    { method: 'PATCH', path: '/v1/policies/$small', body: { match: { tools: ['a'] }, name: 'q' } },
    { method: 'PATCH', path: '/v1/policies/$small', body: { match: { tools: null }, name: 'r' } },
    { method: 'DELETE', path: '/v1/policies/$small' },
    post({ condition: 'args.list.exists(x, x > 1 || x > 2 || x > 3 || x > 4 || x > 5 || x > 6)' }),
  ];
  const expected = await played(server.url, String(server.apiKey), steps);
  expect(await played(listener.url, 'al_test_twin', steps)).toEqual(expected);
  const statuses = expected.map((one) => (one as { status: number }).status);
  expect(statuses.slice(-7)).toEqual([201, 429, 429, 200, 200, 200, 400]);
});
