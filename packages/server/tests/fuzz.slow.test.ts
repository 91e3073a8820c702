import { type EndpointName, endpointNames, endpoints } from '@actlog/protocol';
import { contract, errorEnvelope } from '@actlog/protocol/schemas';
import { expect, test } from 'vitest';
import { asText, oddValues, randomFrom } from './odd-values.ts';
import { activityEvent, checkBody, testServer } from './test-server.ts';

/** Total number of requests; set it higher for a long run. */
const requests = Number(process.env.ACTLOG_TEST_FUZZ_REQUESTS ?? 3000);

const templates: Partial<Record<EndpointName, () => object>> = {
  'events.create': () => activityEvent(),
  'agents.create': () => ({ name: 'a', metadata: { a: [1] } }),
  'agents.update': () => ({ status: 'revoked', metadata: { a: null } }),
  'policies.create': () => ({
    name: 'p',
    effect: 'require_approval',
    match: { tools: ['*'] },
    condition: 'args.amount > 5',
    rate: { max: 1, windowSeconds: 60, per: 'agent' },
    approval: { timeoutSeconds: 1, onTimeout: 'deny' },
  }),
  'policies.update': () => ({ priority: 5, condition: null }),
  'policies.check': () => checkBody({ actionId: 'a', environment: 'prod' }),
  'guardian.pendingActions.decide': () => ({ decision: 'approve', comment: 'x' }),
  'notificationChannels.create': () => ({ url: 'https://93.184.216.34/hook' }),
};

const parameters = ['limit', 'cursor', 'agentId', 'status', 'x', 'minRiskScore', 'startedAfter'];

test(`responds to ${requests} odd requests by the contract, never with 500`, {
  timeout: 3_600_000,
}, async () => {
  const server = await testServer();
  const seed = Number(process.env.ACTLOG_TEST_FUZZ_SEED ?? 20_261_121);
  const random = randomFrom(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const policies: string[] = [];
  const ids = ['thread-1', 'billing-agent', 'unknown'];

  function mutated(value: unknown): unknown {
    if (random() < 0.15) return pick(oddValues);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const entries = Object.entries(value).filter(() => random() > 0.05);
    const result = Object.fromEntries(entries.map(([key, part]) => [key, mutated(part)]));
    if (random() < 0.05) result[asText(pick(oddValues)).slice(0, 100)] = pick(oddValues);
    return result;
  }

  async function one(): Promise<void> {
    const name = pick(endpointNames);
    const template = templates[name]?.();
    const query = random() < 0.3 ? { [pick(parameters)]: asText(pick(oddValues)) } : {};
    const body = template && (random() < 0.05 ? asText(pick(oddValues)) : mutated(template));
    const oddId = asText(pick(oddValues)).toWellFormed();
    const id = random() < 0.3 ? oddId : pick(ids);
    const response = await server.send(name, { id, query, body });
    const text = await response.text();
    const where = JSON.stringify({ seed, name, id, query, body, status: response.status, text }).slice(
      0,
      2000,
    );
    if (response.status >= 500) throw new Error(where);
    const parsed: unknown = JSON.parse(text);
    const shape = response.status < 400 ? contract[name].response.sent : errorEnvelope;
    // An odd id can lead to another path of the table, with another response.
    if (id !== oddId && !shape.safeParse(parsed).success) throw new Error(where);
    const found = (parsed as { id?: unknown }).id;
    if (response.status === 201 && typeof found === 'string' && ids.length < 200) ids.push(found);
    // A thousand matching policies would only make every check slow.
    if (name === 'policies.create' && typeof found === 'string') {
      policies.push(found);
      if (policies.length > 20) await server.ok('policies.archive', { id: policies.shift() as string });
    }
    const pending = (parsed as { pendingActionId?: unknown }).pendingActionId;
    if (typeof pending === 'string' && ids.length < 200) ids.push(pending);
  }

  for (let sent = 0; sent < requests; sent += 20) await Promise.all(Array.from({ length: 20 }, one));
  expect(endpointNames.every((name) => endpoints[name].path.startsWith('/v1/'))).toBe(true);
});
