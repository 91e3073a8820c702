import { describe, expect, it } from 'vitest';
import {
  type Baseline,
  emptyBaseline,
  type LearnOptions,
  learn,
  parseBaseline,
  serializeBaseline,
} from '../src/baseline/baseline.ts';
import { type ExampleStep, exampleEvents } from '../src/rule-example.ts';
import { score } from '../src/score.ts';
import { observe } from '../src/session/observe.ts';
import { emptySession } from '../src/session/session-state.ts';

const HONEST: ExampleStep[] = ['search_invoices', 'read_invoice', 'create_note'];
const ATTACK: ExampleStep[] = [
  'search_invoices',
  'read_invoice',
  'create_note',
  'delete_file',
  'send_payment',
  'send_email',
  'search_invoices',
];

/** Runs a session against a frozen copy of the baseline, then offers it to the baseline. */
function run(baseline: Baseline, steps: readonly ExampleStep[], session: number, options?: LearnOptions) {
  const state = emptySession();
  for (const { event } of exampleEvents(steps, session)) {
    observe(state, { ...event, sessionId: `session ${session}` });
  }
  const risk = score(state, { baseline: parseBaseline(serializeBaseline(baseline)) });
  return { risk, learned: learn(baseline, state, risk, options) };
}

function trained(): Baseline {
  const baseline = emptyBaseline();
  for (let session = 0; session < 30; session++) run(baseline, HONEST, session);
  return baseline;
}

describe('a baseline under attack', () => {
  it('does not learn an attack that is repeated', () => {
    const baseline = trained();
    const before = serializeBaseline(baseline);
    for (let session = 100; session < 300; session++) {
      const { risk, learned } = run(baseline, ATTACK, session);
      expect(['high', 'critical']).toContain(risk.level);
      expect(learned).toBe(false);
    }
    expect(serializeBaseline(baseline)).toBe(before);
  });

  it('learns what scored high once a person has confirmed it, and then the same work scores lower', () => {
    const baseline = trained();
    const confirmed = run(baseline, ATTACK, 100, { isConfirmed: true });
    expect(confirmed.risk.level).toBe('high');
    expect(confirmed.learned).toBe(true);
    expect(run(baseline, ATTACK, 101).risk.score).toBeLessThan(confirmed.risk.score);
  });

  it('keeps a confirmed session before all others, whatever their ids, and once', () => {
    const baseline = emptyBaseline();
    run(baseline, ATTACK, 100, { isConfirmed: true });
    const [confirmed] = baseline.sessions.entries()[0] ?? [];
    for (let session = 0; session < 300; session++) run(baseline, HONEST, session);
    const places = baseline.sessions.entries().map(([place]) => place);
    expect(places).toHaveLength(16);
    expect(places[0]).toBe(confirmed);
    for (const place of places.slice(1)) expect(place).toBeGreaterThanOrEqual(2 ** 31);
    expect(confirmed).toBeLessThan(2 ** 31);
  });

  it('learns a session once that was learned before it went on to score medium', () => {
    const baseline = emptyBaseline();
    expect(run(baseline, HONEST, 1).learned).toBe(true);
    const goneOn = run(baseline, ATTACK, 1, { isConfirmed: true });
    expect(goneOn).toMatchObject({ risk: { level: 'medium' }, learned: true });
    expect(baseline.sessions.size).toBe(1);
  });

  it('still finds the attack after it was brought in step by step', () => {
    const baseline = trained();
    const first = run(parseBaseline(serializeBaseline(baseline)), ATTACK, 99).risk;
    let session = 100;
    for (let length = HONEST.length + 1; length <= ATTACK.length; length++) {
      for (let times = 0; times < 5; times++) run(baseline, ATTACK.slice(0, length), session++);
      for (let times = 0; times < 20; times++) run(baseline, HONEST, session++);
    }
    const last = run(parseBaseline(serializeBaseline(baseline)), ATTACK, 9999).risk;
    expect(['high', 'critical']).toContain(last.level);
    expect(last.score).toBeGreaterThan(first.score - 10);
  });

  it('can silence no rule: what is habitual still counts', () => {
    const baseline = emptyBaseline();
    const state = emptySession();
    for (const { event } of exampleEvents(['read_inbox', 'send_email'], 1)) observe(state, event);
    for (let session = 0; session < 30; session++) run(baseline, ['read_inbox', 'send_email'], session);
    const habitual = score(state, { baseline });
    expect(habitual.score).toBeGreaterThan(0);
    expect(habitual.score).toBeLessThan(score(state).score);
  });

  it('lets nobody have more than his share of its sample', () => {
    const baseline = trained();
    for (let session = 100; session < 160; session++) run(baseline, [...HONEST, 'get_time'], session);
    const strange = baseline.sessions.entries().filter(([, { past }]) => past.looks === 3).length;
    expect(strange).toBeGreaterThan(0);
    expect(strange).toBeLessThan(16);
  });
});
