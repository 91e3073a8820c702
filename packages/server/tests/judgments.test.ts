import type {
  Overview,
  RiskJudgmentChange,
  RiskJudgmentDraft,
  RiskJudgmentEffect,
  RiskJudgmentPage,
  SentOf,
  SessionReview,
} from '@actlog/protocol';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { auditEntries, sendTo, sentTo } from './audit-entries.ts';
import { activityEvent, readError, type TestServer, testServer } from './test-server.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

let server: TestServer;
beforeEach(async () => {
  server = await testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
});

afterEach(() => {
  vi.useRealTimers();
});

const rule = 'goal.foreign-arguments';
const newsletter: RiskJudgmentDraft = {
  kind: 'expected',
  scope: { agentId: 'newsletter', toolName: 'send_email', ruleId: rule },
  reason: 'Sends the weekly mail to the addresses in the list.',
};

let calls = 0;

/** Returns a call that is later than the ones before it. */
function callOf(sessionId: string, agentId: string, toolName: string) {
  calls += 1;
  return activityEvent({
    sessionId,
    agentId,
    sourceTimestamp: new Date(Date.now() - 60_000 + calls * 10).toISOString(),
    payload: { toolName, argumentsHash: `sha256:${toolName}`, responseStatus: 200 },
  });
}

/** Records that an agent read its inbox and acted with arguments from it. */
async function act(
  sessionId: string,
  toolName = 'send_email',
  agentId = 'newsletter',
  on = server,
): Promise<void> {
  const read = callOf(sessionId, agentId, 'read_inbox');
  const call = callOf(sessionId, agentId, toolName);
  const origins = { to: { from: 'tool', as: 'text', toolName: 'read_inbox' } };
  const payload = { eventId: call.eventId, toolName, origins, userText: true };
  await on.record(read, call, { sessionId, agentId, category: 'argument_origins', payload });
}

const save = (draft: RiskJudgmentDraft = newsletter, on = server) =>
  sentTo<RiskJudgmentChange>(on, 'POST', '/server/v1/judgments', draft);
const preview = (draft: RiskJudgmentDraft = newsletter) =>
  sentTo<RiskJudgmentEffect>(server, 'POST', '/server/v1/judgments/preview', draft);
const end = (id: string, body: object = {}) =>
  sentTo<RiskJudgmentChange>(server, 'POST', `/server/v1/judgments/${id}/end`, body);
const review = (id: string) => sentTo<SessionReview>(server, 'GET', `/server/v1/sessions/${id}/review`);
const riskiest = async (query = '') =>
  (await sentTo<Overview>(server, 'GET', `/server/v1/overview${query}`)).riskiestSessions.map(({ id }) => id);

/** Returns the score of a session, which all reads must agree on. */
async function scoreOf(id: string, on = server): Promise<number> {
  const { score, level } = await on.ok('sessions.risk', { id });
  expect((await on.ok('sessions.get', { id })).risk).toEqual({ score, level });
  const { items } = await on.ok('sessions.list');
  expect(items.find((item) => item.id === id)?.risk).toEqual({ score, level });
  return score;
}

test('a preview says how many past sessions change, and saving changes just those', async () => {
  await act('weekly');
  await act('other', 'send_email', 'support');
  const [before, other] = [await scoreOf('weekly'), await scoreOf('other')];
  const effect = await preview();
  expect(effect).toMatchObject({ examined: 1, isComplete: true, lowered: 1, raised: 0 });
  expect(effect.largest).toMatchObject([
    { sessionId: 'weekly', agentId: 'newsletter', before: { score: before } },
  ]);
  expect(await scoreOf('weekly')).toBe(before);
  const saved = await save();
  expect(saved.effect).toEqual(effect);
  expect(saved.judgment).toMatchObject({
    status: 'active',
    createdBy: expect.stringMatching(/^key_/),
    ...newsletter,
  });
  const after = await scoreOf('weekly');
  expect(after).toBe(effect.largest[0]?.after.score);
  expect(after).toBeLessThan(before);
  expect(await scoreOf('other')).toBe(other);
  expect((await review('weekly')).factors).toContainEqual({
    ruleId: rule,
    toolName: 'send_email',
    judgmentId: saved.judgment.id,
  });
  const moved = effect.levels.reduce((sum, { sessions }) => sum + sessions, 0);
  const { totals } = await sentTo<Overview>(server, 'GET', '/server/v1/overview');
  expect(moved).toBe(1);
  expect(totals.sessionsByLevel[effect.largest[0]?.after.level ?? 'low']).toBeGreaterThan(0);
});

test('later sessions are scored with it, and an act outside its scope counts in full', async () => {
  await act('plain', 'send_money');
  await act('bare');
  const bare = await scoreOf('bare');
  await save({ ...newsletter, pastDays: 0 });
  expect(await scoreOf('bare')).toBe(bare);
  await act('later');
  expect(await scoreOf('later')).toBeLessThan(bare);
  const quiet = await scoreOf('later');
  await act('later', 'send_money');
  expect(await scoreOf('later')).toBeGreaterThanOrEqual(await scoreOf('plain'));
  expect(await scoreOf('later')).toBeGreaterThan(quiet);
});

test('after its end date new events are scored without it, and earlier sessions keep their scores', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  await act('plain');
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const plain = await scoreOf('plain');
  const { judgment } = await save({ ...newsletter, expiresAt });
  await act('within');
  const within = await scoreOf('within');
  expect(within).toBeLessThan(plain);
  vi.setSystemTime(Date.now() + 3_600_001);
  await act('after');
  expect(await scoreOf('after')).toBe(plain);
  expect(await scoreOf('within')).toBe(within);
  await act('within');
  expect(await scoreOf('within')).toBeGreaterThanOrEqual(plain);
  const { items } = await sentTo<RiskJudgmentPage>(server, 'GET', '/server/v1/judgments?active=false');
  expect(items).toMatchObject([{ id: judgment.id, status: 'expired', expiresAt }]);
});

test('ending a judgment leaves past scores, and undoing it restores them', async () => {
  await act('weekly');
  const before = await scoreOf('weekly');
  const { judgment } = await save();
  const during = await scoreOf('weekly');
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1000 });
  const ended = await end(judgment.id);
  expect(ended).toMatchObject({
    judgment: { status: 'ended', isUndone: false },
    effect: { lowered: 0, raised: 0 },
  });
  expect(await scoreOf('weekly')).toBe(during);
  await act('next');
  expect(await scoreOf('next')).toBeGreaterThanOrEqual(before);
  const undone = await end(judgment.id, { undo: true });
  expect(undone).toMatchObject({ judgment: { isUndone: true }, effect: { raised: 1 } });
  expect(await scoreOf('weekly')).toBe(before);
});

test('a confirmed attack is critical, is not learned, and is forgotten if it was', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
  const quiet = (sessionId: string) =>
    server.record({
      sessionId,
      payload: { toolName: 'list_files', argumentsHash: 'sha256:a', responseStatus: 200 },
    });
  await quiet('learned');
  await server.ok('sessions.risk', { id: 'learned' });
  vi.useRealTimers();
  expect(await server.server.admin.sessions.learn('default', 'learned')).toBe(true);
  const attack = { kind: 'attack', reason: 'The incident of Monday.' } as const;
  const saved = await save({ ...attack, scope: { sessionId: 'learned' } });
  expect(saved.effect).toMatchObject({ raised: 1, levels: [{ from: 'low', to: 'critical', sessions: 1 }] });
  expect(await scoreOf('learned')).toBe(90);
  expect(await review('learned')).toMatchObject({
    risk: { level: 'critical' },
    judgments: [{ id: saved.judgment.id }],
  });
  const undone = await end(saved.judgment.id);
  expect(undone.judgment.isUndone).toBe(true);
  expect(await scoreOf('learned')).toBeLessThan(40);
});

test('what is expected of one session ends with its next action', async () => {
  await act('weekly');
  const before = await scoreOf('weekly');
  const scope = { sessionId: 'weekly' };
  const { effect } = await save({ kind: 'expected', scope, reason: 'Looked at it: all fine.' });
  expect(effect).toMatchObject({ examined: 1, lowered: 1 });
  expect(await scoreOf('weekly')).toBeLessThan(before);
  await server.record(callOf('weekly', 'newsletter', 'read_inbox'));
  expect(await scoreOf('weekly')).toBeLessThan(before);
  await act('weekly');
  expect(await scoreOf('weekly')).toBeGreaterThanOrEqual(before);
});

test('what shows the same as a confirmed attack is at least high', async () => {
  await act('first', 'send_email', 'support');
  await act('second');
  const kind = 'attack';
  await save({
    kind,
    scope: { toolName: 'send_email', ruleId: 'goal.action-after-untrusted' },
    reason: 'Phishing.',
  });
  expect(await scoreOf('first')).toBeGreaterThanOrEqual(70);
  expect(await scoreOf('second')).toBeGreaterThanOrEqual(70);
});

test.each<[string, object, string]>([
  ['no scope', { scope: {} }, 'empty_scope'],
  ['no rule', { scope: { agentId: 'newsletter' } }, 'rule_required'],
  ['an unknown rule', { scope: { ruleId: 'goal.typo' } }, 'unknown_rule'],
  ['no reason', { reason: ' ' }, 'too_small'],
  ['an end in the past', { expiresAt: '2020-01-01T00:00:00Z' }, 'in_the_past'],
  ['too much of the past', { pastDays: 91 }, 'too_big'],
])('refuses a judgment with %s', async (_, changes, code) => {
  for (const path of ['/server/v1/judgments', '/server/v1/judgments/preview']) {
    const error = await readError(await sendTo(server, 'POST', path, { ...newsletter, ...changes }));
    expect(error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ code }] });
  }
});

test('only keys that manage may judge, and approvers may handle sessions', async () => {
  await act('weekly');
  const keyWith = async (...scopes: ('read' | 'decide')[]) =>
    server.as((await server.server.admin.keys.create('default', { name: 'k', scopes })).apiKey);
  const [reader, approver] = [await keyWith('read'), await keyWith('read', 'decide')];
  expect((await sendTo(approver, 'POST', '/server/v1/judgments', newsletter)).status).toBe(403);
  expect((await sendTo(reader, 'POST', '/server/v1/sessions/weekly/handle', { reason: 'x' })).status).toBe(
    403,
  );
  expect((await sendTo(approver, 'POST', '/server/v1/sessions/weekly/handle', { reason: 'x' })).status).toBe(
    200,
  );
  expect((await sendTo(reader, 'GET', '/server/v1/judgments')).status).toBe(200);
});

test('no tenant sees or changes the judgments of another', async () => {
  await server.server.admin.tenants.create('other');
  const { apiKey } = await server.server.admin.keys.create('other', { name: 'k' });
  const other = server.as(apiKey);
  await act('weekly');
  await act('weekly', 'send_email', 'newsletter', other);
  const before = await scoreOf('weekly', other);
  const { judgment } = await save();
  expect(await scoreOf('weekly', other)).toBe(before);
  expect((await sentTo<RiskJudgmentPage>(other, 'GET', '/server/v1/judgments')).items).toEqual([]);
  expect((await sendTo(other, 'POST', `/server/v1/judgments/${judgment.id}/end`)).status).toBe(404);
  await sentTo(server, 'POST', '/server/v1/sessions/weekly/handle', { reason: 'done' });
  expect((await sentTo<SessionReview>(other, 'GET', '/server/v1/sessions/weekly/review')).status).toBe(
    'open',
  );
});

test('a handled session leaves the riskiest until its score rises', async () => {
  await act('weekly');
  expect(await riskiest()).toEqual(['weekly']);
  const handled = await sentTo<SessionReview>(server, 'POST', '/server/v1/sessions/weekly/handle', {
    reason: 'Asked the team: it was a test.',
  });
  expect(handled).toMatchObject({
    status: 'handled',
    handling: { reason: 'Asked the team: it was a test.' },
  });
  expect(await riskiest()).toEqual([]);
  expect(await riskiest('?handled=true')).toEqual(['weekly']);
  await server.record({ sessionId: 'weekly', agentId: 'newsletter', category: 'llm_call', payload: {} });
  expect(await riskiest()).toEqual([]);
  await act('weekly', 'send_money');
  expect(await riskiest()).toEqual(['weekly']);
  expect((await review('weekly')).status).toBe('reopened');
  await sentTo(server, 'POST', '/server/v1/sessions/weekly/handle', { reason: 'Again.' });
  await sentTo(server, 'POST', '/server/v1/sessions/weekly/reopen');
  expect(await riskiest()).toEqual(['weekly']);
  expect((await auditEntries(server, '&targetKind=session')).map(({ action }) => action)).toEqual([
    'session.reopened',
    'session.handled',
    'session.handled',
  ]);
});

test('a session has comments and at most one assignee', async () => {
  await act('weekly');
  const post = (path: string, body: object) =>
    sentTo<SessionReview>(server, 'POST', `/server/v1/sessions/weekly/${path}`, body);
  expect(await review('weekly')).toMatchObject({ assignee: null, notes: [] });
  await post('assign', { assignee: ' grace ' });
  await post('assign', { assignee: 'grace' });
  await post('comments', { text: '<b>Asked</b> the team.' });
  expect((await post('assign', { assignee: 'ada' })).assignee).toBe('ada');
  const last = await post('assign', { assignee: null });
  expect(last.assignee).toBeNull();
  expect(last.notes.map(({ kind, text }) => [kind, text])).toEqual([
    ['assigned', 'grace'],
    ['comment', '<b>Asked</b> the team.'],
    ['assigned', 'ada'],
    ['assigned', ''],
  ]);
  expect(last.status).toBe('open');
  const entries = await auditEntries(server, '&targetKind=session');
  expect(entries.map(({ action }) => action)).toEqual([
    'session.assigned',
    'session.assigned',
    'session.commented',
    'session.assigned',
  ]);
  expect(JSON.stringify(entries)).not.toContain('Asked');
  expect((await sendTo(server, 'POST', '/server/v1/sessions/weekly/comments', { text: ' ' })).status).toBe(
    400,
  );
  expect((await sendTo(server, 'POST', '/server/v1/sessions/none/comments', { text: 'x' })).status).toBe(404);
  const { apiKey } = await server.server.admin.keys.create('default', { name: 'r', scopes: ['read'] });
  const reader = server.as(apiKey);
  expect((await sendTo(reader, 'POST', '/server/v1/sessions/weekly/assign', { assignee: 'x' })).status).toBe(
    403,
  );
});

test('sessions are listed by the person that they are assigned to', async () => {
  for (const id of ['one', 'two', 'three', 'four']) await act(id);
  const assign = (id: string, assignee: string | null) =>
    sendTo(server, 'POST', `/server/v1/sessions/${id}/assign`, { assignee });
  await assign('one', 'Grace');
  await assign('two', 'grace ');
  await assign('three', 'ada');
  await assign('four', 'ada');
  await assign('four', null);
  const list = (query: string) =>
    sentTo<SentOf<'sessions.list'>>(server, 'GET', `/server/v1/sessions?${query}`);
  const ids = async (query: string) => (await list(query)).items.map(({ id }) => id);
  expect(await ids('assignee=GRACE')).toEqual(['two', 'one']);
  expect(await ids('assignee=grace&sort=riskScore&idContains=n')).toEqual(['one']);
  expect(await ids('assigned=false')).toEqual(['four']);
  expect(await ids('assignee=nobody')).toEqual([]);
  const { items, nextCursor } = await list('assignee=grace&limit=1');
  expect(items.map(({ id }) => id)).toEqual(['two']);
  expect(await ids(`assignee=grace&limit=1&cursor=${nextCursor}`)).toEqual(['one']);
  // Later events keep the assignment.
  await act('three');
  expect(await ids('assignee=ada')).toEqual(['three']);
  expect((await sendTo(server, 'GET', '/server/v1/sessions?assigned=true')).status).toBe(400);
});

test('the audit log has the reason and the scope of each judgment', async () => {
  const { judgment } = await save();
  await end(judgment.id);
  const [ended, created] = await auditEntries(server, '&targetKind=judgment');
  expect(created).toMatchObject({
    action: 'judgment.created',
    target: { id: judgment.id, name: rule },
    changes: expect.arrayContaining([{ field: 'reason', before: null, after: newsletter.reason }]),
  });
  expect(ended?.changes).toMatchObject([{ field: 'endedAt', before: null }]);
});

test('a webhook gets risks from its level on: high, unless it was changed', async () => {
  const receiver = new WebhookReceiver();
  const url = await receiver.listen();
  const { id } = await server.ok('notificationChannels.create', {
    body: { url, events: ['session.risk_raised'] },
  });
  await act('medium');
  expect((await server.ok('sessions.risk', { id: 'medium' })).level).toBe('medium');
  const path = `/server/v1/webhooks/${id}/risk-level`;
  expect(await sentTo(server, 'POST', path, { riskLevel: 'medium' })).toMatchObject({ riskLevel: 'medium' });
  await act('second');
  const [message] = await receiver.received(1);
  expect(message?.body).toMatchObject({ data: { sessionId: 'second', level: 'medium' } });
  await receiver.close();
});

test('quotas bound judgments, and deletions take them along', async () => {
  const { admin } = server.server;
  await admin.tenants.setQuota('default', { judgments: 1 });
  await act('weekly');
  const { judgment } = await save();
  expect((await sendTo(server, 'POST', '/server/v1/judgments', newsletter)).status).toBe(429);
  await save({ kind: 'attack', scope: { sessionId: 'weekly' }, reason: 'An incident.' });
  await end(judgment.id);
  await save();
  await sentTo(server, 'POST', '/server/v1/sessions/weekly/handle', { reason: 'done' });
  await admin.sessions.delete('default', 'weekly', { erasure: 'Request 1' });
  const ofSession = await sentTo<RiskJudgmentPage>(server, 'GET', '/server/v1/judgments?sessionId=weekly');
  expect(ofSession.items).toEqual([]);
  await act('weekly');
  expect((await review('weekly')).status).toBe('open');
});
