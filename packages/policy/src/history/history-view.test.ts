import { expect, test } from 'vitest';
import { CallHistory, maxKeptCalls } from './call-history.ts';
import { AgentTools } from './folded-calls.ts';
import { type CallQuery, HistoryView } from './history-view.ts';
import type { SessionCall } from './stored-call.ts';

const startMs = Date.UTC(2026, 0, 1);
const minuteMs = 60_000;

let number = 0;

function call(toolName: string, minute: number, fields: Partial<SessionCall> = {}): SessionCall {
  number += 1;
  return {
    agentId: 'bot',
    actionId: `action-${number}`,
    toolName,
    argumentsHash: 'sha256:aa',
    atMs: startMs + minute * minuteMs,
    outcome: 'running',
    endedMs: 0,
    arguments: {},
    ...fields,
  };
}

function ended(toolName: string, minute: number, fields: Partial<SessionCall> = {}): SessionCall {
  return call(toolName, minute, {
    outcome: 'succeeded',
    endedMs: startMs + minute * minuteMs,
    ...fields,
  });
}

function historyOf(...calls: readonly SessionCall[]): CallHistory {
  const history = new CallHistory(startMs);
  for (const one of calls) history.add(one, ['amount']);
  return stored(history);
}

/** Returns the history as it is read again after it was stored. */
function stored(history: CallHistory): CallHistory {
  const { summary, changes } = history;
  return CallHistory.parse({ summary, calls: changes.calls });
}

function viewOf(
  session: CallHistory | undefined,
  minute: number,
  actionId?: string,
  sinceMs = 0,
): HistoryView {
  const nowMs = startMs + minute * minuteMs;
  return new HistoryView({ session, agent: new AgentTools(), nowMs, actionId }, 'bot', sinceMs);
}

test('reads how calls ended: a failed or running approval has not been called', () => {
  const minute = 10;
  const view = (...calls: SessionCall[]) => viewOf(historyOf(...calls), minute);
  expect(view(ended('approve', 1)).called({ tools: 'approve' })).toBe(true);
  expect(view(call('approve', 1)).called({ tools: 'approve' })).toBe(false);
  expect(view(ended('approve', 1, { outcome: 'failed' })).called({ tools: 'approve' })).toBe(false);
  expect(view(call('approve', 1, { outcome: 'denied' })).called({ tools: 'approve' })).toBe(false);
  expect(view(call('approve', 1, { outcome: 'denied' })).started({ tools: 'approve' })).toBe(false);
  expect(view(call('approve', 1)).started({ tools: 'appr*' })).toBe(true);
  expect(view(ended('approve', 1, { outcome: 'failed' })).failed({ tools: 'approve' })).toBe(true);
  expect(view(call('approve', 1, { outcome: 'denied' })).failed({ tools: '*' })).toBe(true);
  expect(view(ended('approve', 1)).failed({ tools: 'approve' })).toBe(false);
});

test('counts allowed calls whatever came of them, and never the checked one', () => {
  const own = call('pay', 3);
  const history = historyOf(
    call('pay', 1),
    ended('pay', 2, { outcome: 'failed' }),
    own,
    call('pay', 4, { outcome: 'denied' }),
    call('read', 5),
  );
  expect(viewOf(history, 6).count({ tools: 'pay' })).toBe(3);
  expect(viewOf(history, 6, own.actionId).count({ tools: 'pay' })).toBe(2);
  expect(viewOf(history, 6).count({ tools: '*', withinMs: 3 * minuteMs })).toBe(2);
  expect(viewOf(history, 6).successes({ tools: '*' })).toBe(0);
});

test('sums numbers, and cannot tell with an earlier call that did not show one', () => {
  const history = historyOf(
    call('pay', 1, { arguments: { amount: 40 } }),
    call('pay', 2, { arguments: { amount: 2.5 } }),
    call('pay', 3, { outcome: 'denied' }),
  );
  expect(viewOf(history, 4).sum({ tools: 'pay' }, 'amount')).toBe(42.5);
  expect(viewOf(history, 4).sum({ tools: 'pay', withinMs: 2 * minuteMs }, 'amount')).toBe(2.5);
  history.add(call('pay', 5), ['amount']);
  expect(() => viewOf(history, 6).sum({ tools: 'pay' }, 'amount')).toThrow(
    '1 earlier calls did not show "amount" as a number',
  );
});

test('compares shown arguments', () => {
  const history = historyOf(ended('approve', 1, { arguments: { claimId: 'c-1', amount: 3 } }));
  const view = viewOf(history, 2);
  const about = (shown: CallQuery['arguments']) => view.called({ tools: 'approve', arguments: shown });
  expect(about({ claimId: 'c-1' })).toBe(true);
  expect(about({ claimId: 'c-1', amount: 3n })).toBe(true);
  expect(about({ claimId: 'c-2' })).toBe(false);
  expect(() => about({ other: 'c-1' })).toThrow('an earlier call of approve did not show "other"');
  expect(() => about({ claimId: ['c-1'] })).toThrow('the argument "claimId" is not a text');
});

test('uses up an approval when another call is allowed after it', () => {
  const approved = ended('approve', 1);
  const approve = { tools: 'approve' };
  const pay = { tools: 'pay' };
  expect(viewOf(historyOf(), 9).calledAfter(approve, pay)).toBe(false);
  expect(viewOf(historyOf(call('pay', 0), approved), 9).calledAfter(approve, pay)).toBe(true);
  expect(viewOf(historyOf(approved, call('pay', 2)), 9).calledAfter(approve, pay)).toBe(false);
  const again = historyOf(approved, call('pay', 2), ended('approve', 3));
  expect(viewOf(again, 9).calledAfter(approve, pay)).toBe(true);
  expect(viewOf(again, 9).calledAfter({ ...approve, withinMs: minuteMs }, pay)).toBe(false);
  const own = call('pay', 2);
  expect(viewOf(historyOf(approved, own), 9, own.actionId).calledAfter(approve, pay)).toBe(true);
});

test('keeps counts, sums and last times of calls that are no longer kept one by one', () => {
  // 33 calls are folded at once: after the last time, exactly the newest are kept.
  const total = maxKeptCalls - 2 + 33 * 6;
  const history = historyOf(
    ended('approve', 0),
    ended('approve', 0, { outcome: 'failed' }),
    ...Array.from({ length: total }, (_, index) => ended('pay', index, { arguments: { amount: 1 } })),
  );
  expect(history.calls).toHaveLength(maxKeptCalls);
  const view = viewOf(history, total);
  expect(view.count({ tools: 'pay' })).toBe(total);
  expect(view.successes({ tools: 'pay' })).toBe(total);
  expect(view.sum({ tools: 'pay' }, 'amount')).toBe(total);
  expect(view.called({ tools: 'approve' })).toBe(true);
  expect(view.failed({ tools: 'approve' })).toBe(true);
  expect(view.called({ tools: 'approve', withinMs: minuteMs })).toBe(false);
  // Exact for what is kept one by one, and up to a slice too many beyond.
  expect(view.count({ tools: 'pay', withinMs: 60 * minuteMs })).toBe(60);
  const older = view.count({ tools: 'pay', withinMs: 250 * minuteMs });
  expect(older).toBeGreaterThanOrEqual(250);
  expect(older).toBeLessThanOrEqual(265);
  expect(() => view.sum({ tools: 'pay' }, 'other')).toThrow('did not show "other"');
  expect(() => view.called({ tools: 'pay', arguments: { amount: 1 } })).toThrow('newest 100 calls');
  expect(history.summary.length).toBeLessThan(32 * 1024);
});

test('cannot tell what happened before the history was kept', () => {
  const sinceMs = startMs + 5 * minuteMs;
  const history = historyOf(call('pay', 6));
  const view = viewOf(history, 8, undefined, sinceMs);
  const before = 'the session began before its history was kept, at 2026-01-01T00:05:00.000Z';
  expect(view.started({ tools: 'pay' })).toBe(true);
  expect(() => view.started({ tools: 'approve' })).toThrow(before);
  expect(view.started({ tools: 'approve', withinMs: 3 * minuteMs })).toBe(false);
  expect(() => view.count({ tools: 'pay' })).toThrow(before);
  expect(view.count({ tools: 'pay', withinMs: 3 * minuteMs })).toBe(1);
  expect(() => view.untrusted()).toThrow(before);
  expect(() => viewOf(undefined, 1).started({ tools: 'pay' })).toThrow('the check has no sessionId');
});

test('ends a call only by an event of the same agent, tool and arguments', () => {
  const open = call('pay', 1);
  const end = {
    agentId: 'bot',
    toolName: 'pay',
    argumentsHash: 'sha256:aa',
    responseStatus: 200,
    receivedMs: startMs,
  };
  for (const other of [{ agentId: 'x' }, { toolName: 'read' }, { argumentsHash: 'sha256:bb' }]) {
    const history = historyOf(open);
    history.end(new Map([[open.actionId as string, { ...end, ...other }]]));
    expect(history.calls[0]?.outcome).toBe('running');
  }
  const history = historyOf(open);
  expect(history.runningIds()).toEqual([open.actionId]);
  history.end(new Map([[open.actionId as string, end]]));
  expect(history.calls[0]).toMatchObject({ outcome: 'succeeded', endedMs: open.atMs });
});

test('adds an action once, also if it is denied first', () => {
  const denied = call('pay', 1, { outcome: 'denied' });
  const history = historyOf(denied);
  expect(history.add(denied, [])).toBe(false);
  expect(history.add({ ...denied, outcome: 'running' }, [])).toBe(true);
  expect(history.add({ ...denied, outcome: 'denied' }, [])).toBe(false);
  expect(viewOf(history, 2).count({ tools: 'pay' })).toBe(1);
});

test('tells the first use of a tool by an agent', () => {
  const agent = new AgentTools();
  const view = new HistoryView({ session: undefined, agent, nowMs: 0, actionId: undefined }, 'bot', 0);
  expect(view.firstUse('pay')).toBe(true);
  expect(agent.add('pay')).toBe(true);
  expect(agent.add('pay')).toBe(false);
  expect(view.firstUse('p*')).toBe(false);
  expect(AgentTools.parse(agent.serialize()).has((name) => name === 'pay')).toBe(true);
});
