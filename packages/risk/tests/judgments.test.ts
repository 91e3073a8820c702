import fc from 'fast-check';
import { expect, test } from 'vitest';
import { actionsOf, type Judgment, judgedFactors } from '../src/judgments.ts';
import { allRules } from '../src/rule-catalogue.ts';
import { type ExampleStep, exampleEvents, playExample } from '../src/rule-example.ts';
import { score } from '../src/score.ts';
import { observe } from '../src/session/observe.ts';
import { parseSession, serializeSession } from '../src/session/session-codec.ts';
import { emptySession } from '../src/session/session-state.ts';
import { ofFewTools, shuffledSession } from './event-arbitrary.ts';

const fromText = { from: 'tool', as: 'text', toolName: 'read_inbox' } as const;
const aimed = (tool: string): ExampleStep => ({ tool, origins: { to: fromText } });

function play(steps: readonly ExampleStep[]) {
  const state = emptySession();
  for (const { event } of exampleEvents(steps)) observe(state, event);
  return state;
}

const expected = (scope: Partial<Judgment> = {}): Judgment => ({
  id: 'jdg_1',
  kind: 'expected',
  ruleId: 'goal.foreign-arguments',
  ...scope,
});
const newsletter = expected({ toolName: 'send_email', agentId: 'agent' });

function scored(steps: readonly ExampleStep[], ...judgments: Judgment[]) {
  return score(play(steps), { judgments });
}

test('what is expected no longer counts, and stays visible with a note', () => {
  const session = ['read_inbox', aimed('send_email')];
  const before = scored(session);
  const after = scored(session, newsletter);
  expect(after.score).toBeLessThan(before.score);
  expect(after.factors.map(({ ruleId }) => ruleId)).not.toContain('goal.foreign-arguments');
  const factor = after.dimensions
    .flatMap(({ factors }) => factors)
    .find(({ ruleId }) => ruleId === newsletter.ruleId);
  expect(factor).toMatchObject({ delta: 0, explanation: expect.stringContaining('marked this as expected') });
  expect(
    judgedFactors(play(session), { judgments: [newsletter] }, ['send_email', 'read_inbox']),
  ).toContainEqual({
    ruleId: 'goal.foreign-arguments',
    toolName: 'send_email',
    judgmentId: 'jdg_1',
  });
});

test.each<[string, readonly ExampleStep[]]>([
  ['another tool', ['read_inbox', aimed('send_money')]],
  ['the same tool and another one', ['read_inbox', aimed('send_email'), aimed('send_money')]],
  [
    'another one between two of the same',
    ['read_inbox', aimed('send_email'), aimed('send_money'), aimed('send_email')],
  ],
  ['another agent', ['read_inbox', { tool: 'send_email', agent: 'other', origins: { to: fromText } }]],
  ['another agent in the same session', [{ tool: 'read_inbox', agent: 'other' }, aimed('send_email')]],
  [
    'another rule',
    ['fetch_url', { tool: 'Bash', origins: { command: { ...fromText, toolName: 'fetch_url' } } }],
  ],
])('what is expected of a tool and an agent hides nothing of %s', (_, session) => {
  expect(scored(session, newsletter).score).toBe(scored(session).score);
});

test('a stored state knows whether all actions were of one tool', () => {
  for (const session of [
    [aimed('send_email'), aimed('send_money'), aimed('send_email')],
    [aimed('send_email')],
  ]) {
    const state = play(['read_inbox', ...session]);
    const stored = parseSession(serializeSession(state));
    expect(score(stored, { judgments: [newsletter] })).toEqual(score(state, { judgments: [newsletter] }));
  }
});

test('what is expected of one session ends with its next action', () => {
  const session = ['read_inbox', aimed('send_email')];
  const ofSession = expected({ ruleId: undefined, isOfSession: true, actions: actionsOf(play(session)) });
  expect(scored(session, ofSession).score).toBeLessThan(scored(session).score);
  const read = [...session, 'read_inbox'];
  expect(scored(read, ofSession).score).toBeLessThan(scored(read).score);
  for (const further of ['send_money', aimed('send_email'), 'delete_file']) {
    const longer = [...session, further];
    expect(scored(longer, ofSession).score).toBe(scored(longer).score);
  }
});

test('names of tools that are too long to be kept are still told apart', () => {
  const [tool, other] = ['mcp__customer_mail_service__send', 'mcp__customer_mail_service__send_all'];
  const judgment = expected({ toolName: tool });
  const of = (name: string) => ['read_inbox', aimed(name)];
  expect(scored(of(tool), judgment).score).toBeLessThan(scored(of(tool)).score);
  expect(scored(of(other), judgment).score).toBe(scored(of(other)).score);
  const factors = judgedFactors(play(of(tool)), { judgments: [judgment] }, [other, tool]);
  expect(factors).toContainEqual({ ruleId: judgment.ruleId, toolName: tool, judgmentId: 'jdg_1' });
});

test('proof is only expected if a person named its rule', () => {
  const rule = allRules.find(({ id }) => id === 'rogue.denied-then-done');
  const example = rule?.fires[0];
  if (example === undefined) throw new Error('The rule has no example.');
  const { state } = playExample(example, score);
  const of = (judgment: Judgment) => score(state, { judgments: [judgment] }).score;
  const all = expected({ ruleId: undefined, isOfSession: true });
  expect(of(all)).toBeGreaterThanOrEqual(70);
  expect(of(expected({ ruleId: rule?.id }))).toBeLessThan(of(all));
});

test('an expectation without a rule covers one session only', () => {
  const session = ['read_inbox', aimed('send_email')];
  const scope = { ruleId: undefined, toolName: 'send_email', agentId: 'agent' };
  expect(scored(session, expected(scope)).score).toBe(scored(session).score);
  expect(scored(session, expected({ ...scope, isOfSession: true })).score).toBeLessThan(
    scored(session).score,
  );
});

test('a confirmed attack is critical, and what shows the same is at least high', () => {
  const session = ['read_inbox', 'send_email'];
  expect(scored(session).level).not.toBe('critical');
  const attack = { id: 'jdg_2', kind: 'attack' } as const;
  expect(scored(session, { ...attack, isOfSession: true })).toMatchObject({ score: 90, level: 'critical' });
  const similar = { ...attack, toolName: 'send_email', ruleId: 'goal.action-after-untrusted' };
  const after = scored(session, similar);
  expect(after.level).toBe('high');
  expect(after.factors[0]).toMatchObject({
    ruleId: similar.ruleId,
    delta: expect.closeTo(64.74, 2),
  });
  expect(scored(['read_inbox', 'send_money'], similar).score).toBe(
    scored(['read_inbox', 'send_money']).score,
  );
  expect(scored(session, similar, expected({ ruleId: similar.ruleId })).level).toBe('high');
});

const judgment = fc.record({
  id: fc.constant('jdg_3'),
  kind: fc.constantFrom('expected', 'attack'),
  ruleId: fc.constantFrom(...allRules.map(({ id }) => id)),
  toolName: fc.constantFrom(undefined, 'send_email', 'delete_file', 'run_shell', 'pay'),
  agentId: fc.constantFrom(undefined, undefined, 'a', 'b'),
}) satisfies fc.Arbitrary<Judgment>;

test('an expectation only lowers scores, an attack only raises them, and further events never lower one', () => {
  fc.assert(
    fc.property(shuffledSession, fc.array(judgment, { maxLength: 4 }), ({ events: all }, judgments) => {
      const events = all.map(({ event, stamp }) => ({ event: ofFewTools(event), stamp }));
      const state = emptySession();
      const of = (kind: Judgment['kind']) => judgments.filter((one) => one.kind === kind);
      const decisions = events.filter(({ event }) => event.category === 'guardian_decision');
      let before = 0;
      for (const { event, stamp } of decisions) observe(state, event, { stamp });
      for (const { event, stamp } of events) {
        if (event.category === 'guardian_decision') continue;
        observe(state, event, { stamp });
        const plain = score(state).score;
        expect(score(state, { judgments: of('expected') }).score).toBeLessThanOrEqual(plain);
        expect(score(state, { judgments: of('attack') }).score).toBeGreaterThanOrEqual(plain);
        const { score: now } = score(state, { judgments });
        expect(now).toBeGreaterThanOrEqual(before);
        before = now;
      }
    }),
    { numRuns: 300 },
  );
});
