import { Actlog } from '@actlog/client';
import { type RunningServer, startServer } from '@actlog/server';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ActionDeniedError, type Recorder, type RecorderOptions } from '../src/index.ts';
import { createRecorder, recordMany } from './test-recorder.ts';

/** Starts the real service, a client of it and a recorder. */
async function start(
  options: RecorderOptions = {},
): Promise<{ server: RunningServer; client: Actlog; recorder: Recorder }> {
  const server = await startServer();
  onTestFinished(() => server.close());
  const client = new Actlog({ apiKey: server.apiKey, baseURL: server.url });
  return { server, client, recorder: createRecorder(server.url, { client, ...options }) };
}

const enforce = { mode: 'enforce', onUnavailable: 'deny' } as const;
const call = { toolName: 'transfer', arguments: { amount: 5000 }, sessionId: 'session-1' };

test('reads back recorded events', async () => {
  const { client, recorder } = await start();
  const ids = recordMany(recorder, 60, 2);
  expect(await recorder.flush()).toMatchObject({ delivered: 60, pending: 0, deadLettered: 0 });
  const session = await client.sessions.get('session 0');
  expect(session.eventCount).toBe(30);
  expect(session.events?.map(({ eventId }) => eventId)).toEqual(ids.filter((_, index) => index % 2 === 0));
});

test('shows failed calls in the session', async () => {
  const { client, recorder } = await start();
  await recorder.toolCall(call, () => 'ok');
  await recorder.toolCall(call, () => Promise.reject(new Error('broken'))).catch(() => {});
  await recorder.flush();
  expect(await client.sessions.get('session-1')).toMatchObject({ eventCount: 2, errorCount: 1 });
});

test('denies a call by the arguments sent to the service', async () => {
  const { client, recorder } = await start({
    guard: { ...enforce, showArguments: (args) => args as Record<string, unknown> },
  });
  await client.policies.create({
    name: 'No large transfers',
    mode: 'enforce',
    effect: 'deny',
    match: { tools: ['transfer'] },
    condition: 'args.amount > 1000',
    message: 'Transfers above 1000 are not allowed',
  });
  const error = await recorder.toolCall(call, () => 'ran').catch((thrown: unknown) => thrown);
  expect(ActionDeniedError.isInstance(error) && error.message).toMatch(
    /Transfers above 1000 are not allowed/,
  );
  expect(await recorder.toolCall({ ...call, arguments: { amount: 10 } }, () => 'ran')).toBe('ran');
});

test('delivers the events of the agents of a key, and neither runs nor loses the calls of others', async () => {
  const { server, client } = await start();
  const bound = { name: 'agent', scopes: ['ingest'], agents: ['billing'] } as const;
  const { apiKey } = await server.admin.keys.create('default', bound);
  const errors: string[] = [];
  const recorder = createRecorder(server.url, {
    apiKey,
    agentId: 'billing',
    guard: { mode: 'enforce', onUnavailable: 'allow' },
    onError: ({ message }) => errors.push(message),
  });
  const run = vi.fn();
  const ofOther = { ...call, agentId: 'researcher' };
  await expect(recorder.toolCall(ofOther, run)).rejects.toMatchObject({ because: 'unavailable' });
  expect(run).not.toHaveBeenCalled();
  const isReported = (text: string) => errors.some((message) => message.includes(text));
  expect(isReported('may not act as the agent of the call')).toBe(true);
  await vi.waitUntil(() => isReported('not as "researcher"'));
  recordMany(recorder, 20, 1);
  await vi.waitUntil(() => recorder.stats().delivered === 20);
  expect(await recorder.flush({ timeoutMs: 100 })).toMatchObject({ pending: 1, dropped: 0, deadLettered: 0 });
  expect(await client.sessions.get('session 0')).toMatchObject({ eventCount: 20 });
});

test('opens a gate when an approved call has ended, and keeps it closed when that call failed', async () => {
  const { client, recorder } = await start({ guard: enforce });
  await client.policies.create({
    name: 'Transfers need an approval',
    effect: 'deny',
    match: { tools: ['transfer'] },
    condition: '!session.called("approve")',
  });
  const approve = { ...call, toolName: 'approve' };
  const transfer = () => recorder.toolCall(call, () => 'ran').catch(() => 'denied');
  expect(await transfer()).toBe('denied');
  await recorder.toolCall(approve, () => Promise.reject(new Error('refused'))).catch(() => {});
  await recorder.flush();
  expect(await transfer()).toBe('denied');
  await recorder.toolCall(approve, () => 'approved');
  await recorder.flush();
  expect(await transfer()).toBe('ran');
  // An id of the caller may stand for several calls, and each of them is an event.
  for (let run = 0; run < 2; run += 1)
    await recorder.toolCall({ ...approve, actionId: 'mine' }, () => 'again');
  await recorder.flush();
  const { events } = await client.sessions.get('session-1');
  const approvals = events?.filter(
    ({ payload, category }) => category === 'tool_api' && payload?.toolName === 'approve',
  );
  expect(approvals).toHaveLength(4);
});

test('denies calls of a revoked agent until it is reinstated', async () => {
  const { client, recorder } = await start({ guard: enforce, agentId: 'payer' });
  await client.agents.create({ id: 'payer', name: 'Payer' });
  expect(await recorder.toolCall(call, () => 'ran')).toBe('ran');
  await client.agents.update('payer', { status: 'revoked' });
  const ran = vi.fn();
  const error = await recorder.toolCall(call, ran).catch((thrown: unknown) => thrown);
  expect(ActionDeniedError.isInstance(error) && [error.policyId, error.message]).toEqual([
    'agent_revoked',
    expect.stringContaining('This agent is revoked: it must not act until somebody reinstates it.'),
  ]);
  expect(ran).not.toHaveBeenCalled();
  await client.agents.update('payer', { status: 'active' });
  expect(await recorder.toolCall(call, () => 'ran')).toBe('ran');
});

function nested(levels: number): object {
  return levels === 0 ? {} : { inner: nested(levels - 1) };
}

test.each<[string, Record<string, unknown>]>([
  ['large', { text: 'x'.repeat(300_000) }],
  ['deep', { inner: nested(40) }],
])('does not bypass a policy with arguments that are too %s to send', async (_name, args) => {
  const { client, recorder } = await start({
    guard: { mode: 'enforce', onUnavailable: 'allow', showArguments: () => args },
  });
  await client.policies.create({ name: 'No transfers', effect: 'deny', match: { tools: ['transfer'] } });
  await expect(recorder.toolCall(call, () => 'ran')).rejects.toMatchObject({ because: 'denied' });
});

test.each([
  ['approve', 'ran'],
  ['deny', 'denied'],
] as const)('a person decides about a held call: %s', async (decision, outcome) => {
  const { client, recorder } = await start({ guard: enforce });
  await client.policies.create({
    name: 'Ask first',
    mode: 'enforce',
    effect: 'require_approval',
    match: { tools: ['transfer'] },
  });
  const result = recorder
    .toolCall(call, () => 'ran')
    .catch((error: unknown) => (ActionDeniedError.isInstance(error) ? error.because : error));
  const [pending] = await waitForPending(client);
  await client.guardian.pendingActions.decide(pending as string, { decision });
  expect(await result).toBe(outcome);
});

test('runs a held call with a single-use approval, and holds the next one with the same arguments', async () => {
  const { client, recorder } = await start({ guard: enforce });
  await client.policies.create({
    name: 'Ask each time',
    effect: 'require_approval',
    match: { tools: ['transfer'] },
    approval: { timeoutSeconds: 60, onTimeout: 'deny', singleUse: true },
  });
  for (const used of [1, 2]) {
    const result = recorder.toolCall({ ...call, actionId: 'transfer-1' }, () => 'ran');
    const [pending] = await waitForPending(client);
    await client.guardian.pendingActions.decide(pending as string, { decision: 'approve' });
    expect(await result).toBe('ran');
    const approved = (await client.guardian.pendingActions.list({ status: 'approved' })).items;
    expect(approved.filter(({ usedAt }) => typeof usedAt === 'string')).toHaveLength(used);
    // Moves the clock past the time in which a repeated check is allowed.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    onTestFinished(() => void vi.useRealTimers());
  }
});

test.each<[string, (client: Actlog, policyId: string) => PromiseLike<unknown>]>([
  ['stands', () => Promise.resolve()],
  ['is archived', ({ policies }, id) => policies.archive(id)],
  ['only tells', ({ policies }, id) => policies.update(id, { mode: 'log_only' })],
])('reports the timeout of a held call if its policy %s meanwhile', async (_, meanwhile) => {
  const { client, recorder } = await start({ guard: enforce });
  const { id } = await client.policies.create({
    name: 'Ask first',
    effect: 'require_approval',
    match: { tools: ['transfer'] },
    approval: { timeoutSeconds: 2, onTimeout: 'deny' },
  });
  const outcome = recorder.toolCall(call, () => 'ran').catch((thrown: unknown) => thrown);
  await vi.waitFor(async () => {
    expect((await client.guardian.pendingActions.list()).items).toHaveLength(1);
  });
  await meanwhile(client, id);
  expect(await outcome).toMatchObject({
    because: 'approval-timed-out',
    decision: 'deny',
    deniedBy: undefined,
    policyId: id,
    message: expect.stringContaining(
      `needs a person's approval under policy "Ask first" (${id}), and none was given in time`,
    ),
  });
});

test('never runs a held call that its caller aborts', async () => {
  const { client, recorder } = await start({ guard: enforce });
  await client.policies.create({ name: 'Ask', mode: 'enforce', effect: 'require_approval', match: {} });
  const controller = new AbortController();
  let hasRun = false;
  const result = recorder.toolCall({ ...call, signal: controller.signal }, () => {
    hasRun = true;
  });
  const rejected = expect(result).rejects.toThrow('gone');
  const [pending] = await waitForPending(client);
  controller.abort(new Error('gone'));
  await rejected;
  await client.guardian.pendingActions.decide(pending as string, { decision: 'approve' });
  expect(hasRun).toBe(false);
});

/** Returns the ids of the pending actions, as soon as there is one. */
function waitForPending(client: Actlog): Promise<string[]> {
  return vi.waitUntil(
    async () => {
      const ids: string[] = [];
      for await (const { id } of client.guardian.pendingActions.list()) ids.push(id);
      return ids.length > 0 ? ids : undefined;
    },
    { timeout: 20_000 },
  ) as Promise<string[]>;
}
