import { expect, test } from 'vitest';
import { CallHistory, maxKeptCalls } from './call-history.ts';
import type { SessionCall } from './stored-call.ts';

const startMs = Date.UTC(2026, 0, 1);

function call(index: number, fields: Partial<SessionCall> = {}): SessionCall {
  return {
    agentId: 'bot',
    actionId: `action-${index}`,
    toolName: `tool-${index % 3}`,
    argumentsHash: 'sha256:aa',
    atMs: startMs + index,
    outcome: 'running',
    endedMs: 0,
    arguments: { amount: index },
    ...fields,
  };
}

function endOf({ agentId, toolName, argumentsHash, atMs, actionId }: SessionCall) {
  const end = { agentId, toolName, argumentsHash, responseStatus: 200, receivedMs: atMs + 1 };
  return new Map([[String(actionId), end]]);
}

/** Rows as a service stores them. */
class StoredRows {
  summary = '';
  readonly calls = new Map<number, string>();

  save(history: CallHistory): void {
    const { isSummaryChanged, calls, removed } = history.changes;
    if (isSummaryChanged) this.summary = history.summary;
    for (const number of removed) this.calls.delete(number);
    for (const { number, text } of calls) this.calls.set(number, text);
  }

  read(): CallHistory {
    const calls = [...this.calls].sort(([left], [right]) => left - right);
    return CallHistory.parse({
      summary: this.summary,
      calls: calls.map(([number, text]) => ({ number, text })),
    });
  }
}

test('what changes, stored after each call, is the whole history', () => {
  const rows = new StoredRows();
  const whole = new CallHistory(startMs);
  rows.save(whole);
  for (let index = 0; index < maxKeptCalls * 4; index += 1) {
    const history = rows.read();
    for (const one of [history, whole]) {
      if (index % 50 === 7) one.addUntrusted('bot', `action-${index}`);
      if (index % 5 === 0) one.add(call(index, { outcome: 'denied' }), ['amount']);
      else one.add(call(index), ['amount']);
      if (index % 7 === 3) one.end(endOf(call(index - 2)));
      // An action that was denied is allowed later.
      if (index % 10 === 4) one.add(call(index - 4), ['amount']);
    }
    rows.save(history);
    expect(rows.read().calls).toEqual(whole.calls);
    expect(rows.summary).toBe(whole.summary);
  }
  expect(rows.calls.size).toBe(whole.calls.length);
});

test('a call changes nothing but itself, until many are folded at once', () => {
  const rows = new StoredRows();
  rows.save(new CallHistory(startMs));
  let foldings = 0;
  for (let index = 0; index < maxKeptCalls * 3; index += 1) {
    const history = rows.read();
    history.add(call(index), ['amount']);
    const { isSummaryChanged, calls, removed } = history.changes;
    expect(calls).toHaveLength(1);
    if (isSummaryChanged) foldings += 1;
    expect(removed).toHaveLength(isSummaryChanged ? 33 : 0);
    rows.save(history);
  }
  expect(foldings).toBe(Math.floor((maxKeptCalls * 3 - maxKeptCalls) / 33));
});

test('a call that ends changes only itself, and nothing if another has ended', () => {
  const rows = new StoredRows();
  const begun = new CallHistory(startMs);
  for (const index of [1, 2, 3]) begun.add(call(index), []);
  rows.save(begun);
  const history = rows.read();
  history.end(endOf(call(9)));
  expect(history.changes).toEqual({ isSummaryChanged: false, calls: [], removed: [] });
  history.end(endOf(call(2)));
  expect(history.changes).toMatchObject({ isSummaryChanged: false, calls: [{ number: 2 }], removed: [] });
  rows.save(history);
  expect(rows.read().calls.map(({ outcome }) => outcome)).toEqual(['running', 'succeeded', 'running']);
});

test('two equal calls without an id are two calls', () => {
  const history = new CallHistory(startMs);
  const one = call(1, { actionId: undefined });
  expect(history.add(one, [])).toBe(true);
  expect(history.add(one, [])).toBe(true);
  expect(history.changes.calls.map(({ number }) => number)).toEqual([1, 2]);
});
