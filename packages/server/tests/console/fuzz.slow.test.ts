import { errorEnvelope } from '@actlog/protocol/schemas';
import { expect, test } from 'vitest';
import { asText, oddValues, randomFrom } from '../odd-values.ts';
import { testServer } from '../test-server.ts';
import { consoleRoutes, idOf, TestConsole } from './test-console.ts';

/** Total number of requests; set it higher for a long run. */
const requests = Number(process.env.ACTLOG_TEST_FUZZ_REQUESTS ?? 3000);

const templates = [
  { name: 'a', kind: 'test', scopes: ['read', 'ingest'], expiresInDays: 1 },
  { overlapDays: 1 },
  {},
];

const methods = ['GET', 'POST', 'POST', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];

test(`responds to ${requests} odd requests to the console with the envelope, never with 500 or a stored secret`, {
  timeout: 3_600_000,
}, async () => {
  const seed = Number(process.env.ACTLOG_TEST_FUZZ_SEED ?? 20_261_121);
  const random = randomFrom(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const owner = new TestConsole(await testServer());
  const { admin } = owner.server.server;
  await admin.tenants.create('rival');
  const rival = (await admin.keys.create('rival', { name: 'r' })).key;
  const agent = owner.as((await owner.create({ name: 'agent', scopes: ['ingest'] })).apiKey);
  const ids = [rival.id, 'unknown'];

  function mutated(value: unknown): unknown {
    if (random() < 0.15) return pick(oddValues);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const result = Object.fromEntries(
      Object.entries(value)
        .filter(() => random() > 0.05)
        .map(([key, part]) => [key, mutated(part)]),
    );
    if (random() < 0.05) result[asText(pick(oddValues)).slice(0, 100)] = pick(oddValues);
    return result;
  }

  function oddPath(): string {
    const [, route] = pick(consoleRoutes);
    const id = random() < 0.3 ? asText(pick(oddValues)).toWellFormed() : pick(ids);
    const path = route.replace(':id', encodeURIComponent(id));
    return random() < 0.1 ? `${path}?${encodeURIComponent(asText(pick(oddValues)).toWellFormed())}=1` : path;
  }

  async function one(): Promise<void> {
    const method = random() < 0.2 ? pick(methods) : random() < 0.2 ? 'GET' : 'POST';
    const path = oddPath();
    const oddBody = random() < 0.05 ? asText(pick(oddValues)) : JSON.stringify(mutated(pick(templates)));
    const body = method === 'GET' ? undefined : oddBody;
    const response = await (random() < 0.1 ? agent : owner).send(method, path, body);
    const text = await response.text();
    const where = JSON.stringify({ seed, method, path, body, status: response.status, text }).slice(0, 2000);
    if (response.status >= 500) throw new Error(where);
    const parsed = JSON.parse(text) as { apiKey?: string };
    if (response.status >= 400 && !errorEnvelope.safeParse(parsed).success) throw new Error(where);
    if (/[0-9a-f]{64}|digest/.test(text)) throw new Error(where);
    if (parsed.apiKey !== undefined && ids.length < 100) ids.push(idOf(parsed.apiKey));
  }

  for (let sent = 0; sent < requests; sent += 20) await Promise.all(Array.from({ length: 20 }, one));
  expect(ids.length).toBeGreaterThan(10);
  expect((await admin.keys.list('rival')).map(({ id, expiresMs }) => [id, expiresMs])).toEqual([
    [rival.id, null],
  ]);
  expect(await owner.identity()).toMatchObject({ keyId: idOf(owner.server.apiKey) });
});
