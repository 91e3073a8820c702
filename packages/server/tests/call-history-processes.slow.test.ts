import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newApiKey } from '../src/tenants/api-key.ts';
import { ChildServer } from './child-server.ts';
import { testSecret, withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { testServer } from './test-server.ts';

const sessions = 24;
const checksPerSession = 50;
const limit = 3;

/** Runs work for each number below `count`, in many concurrent queues. */
async function inQueues(
  count: number,
  queues: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const queue = async () => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: queues }, queue));
}

test('lets no call past a limit in concurrent checks by two processes', {
  timeout: 180_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-history-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const apiKey = newApiKey('test');
  const options = await withTestDatabase({
    database: join(folder, 'a.db'),
    secret: testSecret,
    apiKey,
    docs: false,
    rateLimit: false,
  });
  const children: ChildServer[] = [];
  for (let index = 0; index < 2; index += 1) {
    const child = await ChildServer.start(options);
    atTestEnd(() => child.kill());
    children.push(child);
  }
  const admin = (await testServer(options)).as(apiKey);
  const condition = `session.count("pay_*", duration("24h")) >= ${limit}`;
  await admin.policy({ name: 'calls', match: { tools: ['pay_*'] }, condition });
  await admin.policy({
    name: 'budget',
    match: { tools: ['buy'] },
    condition: 'session.sum("buy", "amount") + double(args.amount) > 100.0',
  });
  const allowed = new Map<string, number>();
  await inQueues(sessions * checksPerSession, 64, async (index) => {
    // Neighboring checks are about the same session, and go to different processes.
    const session = Math.floor(index / checksPerSession);
    const isBudget = session % 2 === 1;
    const { url } = children[index % children.length] as ChildServer;
    const action = isBudget
      ? { toolName: 'buy', argumentsHash: 'sha256:aa', arguments: { amount: 40 } }
      : { toolName: `pay_${index % 4}`, argumentsHash: 'sha256:aa' };
    const body = { agentId: 'bot', sessionId: `session-${session}`, actionId: `action-${index}`, action };
    const response = await fetch(`${url}/v1/policies/check`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
    const { decision } = (await response.json()) as { decision: string };
    if (decision === 'allow') allowed.set(body.sessionId, (allowed.get(body.sessionId) ?? 0) + 1);
  });
  const expected = Array.from({ length: sessions }, (_, session) => [
    `session-${session}`,
    session % 2 === 1 ? 2 : limit,
  ]);
  expect(Object.fromEntries(allowed)).toEqual(Object.fromEntries(expected));
});
