import type { PendingAction } from '@actlog/client';
import { expect, test } from 'vitest';
import { decidedNews, lateNews } from './decision-news.ts';
import { batchNews } from './held-list.tsx';

function held(fields: Partial<PendingAction> = {}): PendingAction {
  return {
    id: 'pac_1',
    agentId: 'billing',
    status: 'pending',
    action: { toolName: 'refund', argumentsHash: 'sha256:aa' },
    ...fields,
  };
}

function needing(required: number, given: number): PendingAction {
  const approval = {
    approvedBy: 'key_a',
    principal: null,
    comment: null,
    approvedAt: '2026-01-01T00:00:00.000Z',
    grant: null,
  };
  const approvals = {
    approverKeys: null,
    approverGroups: null,
    notRequester: false,
    verifiedPrincipal: false,
    given: Array(given).fill(approval),
  };
  return held({ approvals: { required, ...approvals } });
}

test('reports an approval of several as waiting, not as approved', () => {
  expect(decidedNews(needing(2, 1))).toBe(
    'refund by billing: your approval counts, and it waits for another approver.',
  );
  expect(decidedNews(needing(4, 2))).toContain('2 more approvers');
  expect(decidedNews(held({ status: 'approved' }))).toBe('refund by billing: approved.');
});

test('tells the loser of a race in one sentence', () => {
  const details = [{ path: 'status', code: 'denied', message: 'The action is denied.' }];
  expect(lateNews(held(), { code: 'ALREADY_DECIDED', details })).toBe(
    'refund by billing was already denied by someone else; your decision changed nothing.',
  );
  const by = (field: string, code: string) => ({ path: `decision.${field}`, code, message: '' });
  const named = [...details, by('decidedBy', 'key_1')];
  expect(lateNews(held(), { code: 'ALREADY_DECIDED', details: named })).toContain('denied by key_1;');
  const person = [...named, by('principal', 'ann@example.com')];
  expect(lateNews(held(), { code: 'ALREADY_DECIDED', details: person })).toContain('by ann@example.com;');
  expect(lateNews(held(), { code: 'ACTION_EXPIRED' })).toBe(
    'refund by billing expired before your decision.',
  );
  expect(lateNews(held(), { code: 'VALIDATION_ERROR' })).toBeUndefined();
});

test('summarizes several decisions, and names each that was refused', () => {
  const actions = ['a', 'b', 'c', 'd'].map((id) => held({ id }));
  const refused = (code: string, message: string) => ({ action: null, error: { code, message } });
  const approved = { action: held({ status: 'approved' }), error: null };
  expect(
    batchNews(actions, [
      { id: 'a', ...approved },
      { id: 'b', ...approved },
      { id: 'c', ...refused('ACTION_EXPIRED', 'The action expired.') },
      { id: 'd', ...refused('PERMISSION_DENIED', 'Ask another approver.') },
    ]),
  ).toBe(
    '2 approved. refund by billing expired before your decision. refund by billing: Ask another approver.',
  );
});
