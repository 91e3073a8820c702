import { Actlog, type PolicyCreate } from '@actlog/client';
import { type RunningServer, startServer } from '@actlog/server';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { ActionDeniedError, type ApprovedChange, hashArguments, type Recorder } from '../src/index.ts';
import { createRecorder } from './test-recorder.ts';

const server: RunningServer = await startServer({ database: ':memory:', port: 0 });
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
afterAll(() => server.close());

const requested = { amount: 900, to: 'ada', secret: 's3cret', lines: [{ id: 1 }, { id: 2 }] };

beforeEach(async () => {
  for await (const { id } of client.policies.list({ status: 'active' })) await client.policies.archive(id);
});

function holdRefunds(fields: Partial<PolicyCreate> = {}) {
  const editable = [
    { path: 'amount', max: 500 },
    { path: 'lines', subset: true },
  ] as const;
  return client.policies.create({
    name: 'ask',
    effect: 'require_approval',
    match: { tools: ['refund'] },
    approval: { timeoutSeconds: 60, onTimeout: 'deny', editable },
    ...fields,
  });
}

function guarded(options: object = {}): Recorder {
  return createRecorder(server.url, {
    apiKey: server.apiKey,
    guard: {
      mode: 'enforce',
      onUnavailable: 'allow',
      showArguments: ({ secret: _, ...shown }: typeof requested) => shown,
      ...options,
    },
  } as never);
}

async function approve(sessionId: string, changedArguments: Readonly<Record<string, unknown>>) {
  for await (const { id } of client.guardian.pendingActions.watch({ sessionId, intervalMs: 5 })) {
    return client.guardian.pendingActions.decide(id, { decision: 'approve', changedArguments });
  }
  throw new Error('nothing was held');
}

test('runs the tool once, with the changed arguments', async () => {
  await holdRefunds();
  const recorder = guarded();
  const session = recorder.session();
  const ran: { args: unknown; change: ApprovedChange | undefined }[] = [];
  const call = { toolName: 'refund', arguments: requested, acceptsChanges: true };
  const result = session.toolCall(call, (args, change) => void ran.push({ args, change }));
  const { id } = await approve(session.id, { amount: 400, lines: [{ id: 2 }] });
  await result;
  const changed = { ...requested, amount: 400, lines: [{ id: 2 }] };
  expect(ran).toMatchObject([{ args: changed, change: { changes: { amount: 400 } } }]);
  expect(ran[0]?.change?.notice).toContain('amount = 400');
  expect(requested.amount).toBe(900);
  await recorder.flush();
  const executedHash = await hashArguments(changed);
  const [held] = await client.guardian.pendingActions
    .list({ sessionId: session.id, status: 'approved' })
    .toArray({ limit: 1 });
  expect(held).toMatchObject({ id, executedHash, action: { argumentsHash: await hashArguments(requested) } });
  const events = await client.sessions.events(session.id).toArray({ limit: 10 });
  expect(events.filter(({ category }) => category === 'tool_api')).toMatchObject([
    { payload: { toolName: 'refund', argumentsHash: executedHash, responseStatus: 200 } },
  ]);
  // Ids and hashes are random and may have the digits of an amount.
  expect(JSON.stringify(events)).not.toMatch(/[^\w-](900|400)[^\w-]|s3cret/);
});

test('denies the call where the tool cannot be run with changed arguments', async () => {
  await holdRefunds();
  const session = guarded().session();
  const call = { toolName: 'refund', arguments: requested };
  const result = session.toolCall(call, () => 'ran');
  await expect(approve(session.id, { amount: 400 })).rejects.toMatchObject({ status: 400 });
  for await (const { id } of client.guardian.pendingActions.list({ sessionId: session.id })) {
    await client.guardian.pendingActions.decide(id, { decision: 'approve' });
  }
  expect(await result).toBe('ran');
});

test('denies a change of an argument that was shown differently', async () => {
  await holdRefunds();
  const session = guarded({ showArguments: () => ({ amount: 901 }) }).session();
  const call = { toolName: 'refund', arguments: requested, acceptsChanges: true };
  const result = session.toolCall(call, () => 'ran');
  result.catch(() => {});
  await approve(session.id, { amount: 400 });
  await expect(result).rejects.toThrow(/amount is not an argument of the call with the value that was shown/);
});

test('denies a change that a policy denies', async () => {
  await holdRefunds();
  await client.policies.create({
    name: 'no',
    effect: 'deny',
    condition: 'has(args.amount) && args.amount < 450',
    message: 'Too small.',
  });
  const session = guarded().session();
  const call = { toolName: 'refund', arguments: requested, acceptsChanges: true };
  const result = session.toolCall(call, () => 'ran');
  result.catch(() => {});
  await approve(session.id, { amount: 400 });
  const error = await result.catch((thrown: unknown) => thrown);
  expect(ActionDeniedError.isInstance(error) && error.message).toContain('Too small.');
});

test('checks a call again whose arguments change while a person changes them', async () => {
  await holdRefunds();
  const args = { ...requested };
  const session = guarded().session();
  const call = { toolName: 'refund', arguments: args, acceptsChanges: true };
  const result = session.toolCall(call, (given) => (given as typeof args).to);
  result.catch(() => {});
  for await (const { id } of client.guardian.pendingActions.watch({ sessionId: session.id, intervalMs: 5 })) {
    const isChanged = args.to === 'eve';
    args.to = 'eve';
    const changedArguments = isChanged ? {} : { amount: 400 };
    await client.guardian.pendingActions.decide(id, { decision: 'approve', changedArguments });
    if (isChanged) break;
  }
  expect(await result).toBe('eve');
  const held = await client.guardian.pendingActions
    .list({ sessionId: session.id, status: 'approved' })
    .toArray({ limit: 10 });
  expect(held.map(({ executedHash }) => executedHash)).toEqual([null, null]);
});

test('counts the changed call once where two hooks see it', async () => {
  await holdRefunds();
  const recorder = guarded();
  const session = recorder.session();
  const [outer, inner] = ['outer', 'inner'].map((framework) =>
    recorder.forAdapter({ framework, sdk: `@example/${framework}/1.0.0` }),
  );
  const call = { toolName: 'refund', arguments: requested, sessionId: session.id, acceptsChanges: true };
  const result = outer?.toolCall(call, (args) => inner?.toolCall({ ...call, arguments: args }, () => 'ran'));
  await approve(session.id, { amount: 400 });
  expect(await result).toBe('ran');
  await recorder.flush();
  const events = await client.sessions.events(session.id).toArray({ limit: 10 });
  expect(events.filter(({ category }) => category === 'tool_api')).toHaveLength(1);
});

test('says in origins that the approver chose a value', async () => {
  await holdRefunds();
  const recorder = createRecorder(server.url, {
    apiKey: server.apiKey,
    origins: true,
    guard: { mode: 'enforce', onUnavailable: 'deny', showArguments: (args: unknown) => args as never },
  } as never);
  const session = recorder.session();
  session.userText('refund 900 to ada');
  const call = { toolName: 'refund', arguments: requested, acceptsChanges: true };
  const result = session.toolCall(call, () => 'ran');
  await approve(session.id, { amount: 400 });
  await result;
  await recorder.flush();
  const events = await client.sessions.events(session.id).toArray({ limit: 10 });
  const origins = events.find(({ category }) => category === 'argument_origins')?.payload;
  expect(origins).toMatchObject({ origins: { amount: { from: 'approver' } } });
});
