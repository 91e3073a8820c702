import { describe, expect, it } from 'vitest';
import type { RiskLevel } from '../risk-score.ts';
import { exampleEvents } from '../rule-example.ts';
import { score } from '../score.ts';
import { observe } from '../session/observe.ts';
import { emptySession } from '../session/session-state.ts';
import { emptyBaseline, learn, parseBaseline, serializeBaseline } from './baseline.ts';

function session(name: string, tools: readonly string[]) {
  const state = emptySession();
  for (const { event } of exampleEvents(tools)) observe(state, { ...event, sessionId: name });
  return state;
}

describe('learn', () => {
  it.each([
    ['low', true],
    ['medium', false],
    ['high', false],
    ['critical', false],
  ] as [RiskLevel, boolean][])('of a session with level %s returns %s', (level, learned) => {
    const baseline = emptyBaseline();
    const state = session('one', ['read_file', 'write_file']);
    expect(learn(baseline, state, { ...score(state), level })).toBe(learned);
    expect(baseline.sessions.size).toBe(learned ? 1 : 0);
  });

  it('skips a session without calls', () => {
    const state = session('one', []);
    expect(learn(emptyBaseline(), state, score(state))).toBe(false);
  });

  it('counts a session once when it is learned again', () => {
    const baseline = emptyBaseline();
    for (let times = 0; times < 3; times++) {
      const state = session('one', ['read_file', 'write_file']);
      learn(baseline, state, score(state));
    }
    expect(baseline.sessions.size).toBe(1);
  });

  it('compares each session only with sessions of the same workflow', () => {
    const baseline = emptyBaseline();
    for (let at = 0; at < 7; at++) {
      const payer = session(`payer ${at}`, ['get_invoice', 'list_orders', 'send_payment']);
      const reader = session(`reader ${at}`, ['search_web', 'fetch_url', 'create_note']);
      for (const state of [payer, reader]) learn(baseline, state, score(state));
    }
    const strange = session('strange', ['search_web', 'fetch_url', 'send_payment']);
    const usual = session('usual', ['get_invoice', 'list_orders', 'send_payment']);
    const rules = (state: typeof usual) => score(state, { baseline }).factors.map((factor) => factor.ruleId);
    expect(rules(strange)).toContain('goal.new-action');
    expect(rules(usual)).not.toContain('goal.new-action');
  });
});

describe('serializeBaseline', () => {
  it('takes at most 6 KiB', () => {
    const baseline = emptyBaseline();
    for (let at = 0; at < 200; at++) {
      const tools = Array.from({ length: 40 }, (_, index) => `get_thing_${(at * 40 + index * 7) % 999}`);
      const state = session(`s${at}`, tools);
      learn(baseline, state, score(state));
    }
    const text = serializeBaseline(baseline);
    expect(text.length).toBeLessThanOrEqual(6144);
    expect(serializeBaseline(parseBaseline(text))).toBe(text);
  });

  it('rejects truncated data', () => {
    expect(() => parseBaseline(btoa('\u0007'))).toThrow(/format 7/);
  });
});
