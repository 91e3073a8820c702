import fc from 'fast-check';
import { expect, test } from 'vitest';
import { emptyBaseline, learn } from '../src/baseline/baseline.ts';
import type { RiskEvent } from '../src/risk-event.ts';
import { type ExampleStep, exampleEvents } from '../src/rule-example.ts';
import { score } from '../src/score.ts';
import { observe } from '../src/session/observe.ts';
import { serializeSession } from '../src/session/session-codec.ts';
import { emptySession } from '../src/session/session-state.ts';
import { ofFewTools, shuffledSession } from './event-arbitrary.ts';

const fromText = (toolName: string) => ({ from: 'tool', as: 'text', toolName }) as const;

const attacks: readonly (readonly ExampleStep[])[] = [
  [
    'fetch_web_page',
    { tool: 'transfer_funds', origins: { recipient: fromText('fetch_web_page') } },
    'fetch_web_page',
  ],
  [
    'read_inbox',
    'get_secret',
    { tool: 'send_email', origins: { to: fromText('read_inbox') } },
    'delete_email',
  ],
  ['get_issue', { tool: 'run_shell', origins: { 'command.host': fromText('get_issue') } }],
  ['fetch_web_page', 'list_customers', 'send_email', 'delete_record', 'grant_role'],
];

/** A harmless call: reads of several kinds, looking up the time, and local work. */
const harmless = fc.record({
  tool: fc.constantFrom(
    'read_file',
    'get_current_time',
    'search_emails',
    'Read',
    'Grep',
    'Edit',
    'Bash',
    'get_order',
    'list_events',
    'fetch_web_page',
  ),
  given: fc.nat({ max: 1000 }),
  status: fc.constantFrom(200, 200, 200, 404, 500),
  /** Milliseconds before or after the attack, or between its steps. */
  at: fc.integer({ min: -100_000_000, max: 100_000_000 }),
});

const startMs = Date.UTC(2026, 0, 5, 10);

/** Values of a harmless call. */
interface Padding {
  readonly tool: string;
  readonly given: number;
  readonly status: number;
  readonly at: number;
}

function paddingEvent({ tool, given, status, at }: Padding, index: number): RiskEvent {
  return {
    eventId: `00000000-0000-7000-9000-${String(index).padStart(12, '0')}`,
    agentId: 'agent',
    sessionId: 'session-0',
    timestampMs: startMs + at,
    category: 'tool_api',
    schemaVersion: '1.0',
    toolName: tool,
    argumentsHash: String(given),
    responseStatus: status,
  };
}

const history = (() => {
  const baseline = emptyBaseline();
  for (let session = 1; session <= 3; session++) {
    const state = emptySession();
    for (const { event } of exampleEvents(['read_file', 'search_emails', 'send_email'], session))
      observe(state, event);
    learn(baseline, state, { ...score(state), level: 'low' });
  }
  return baseline;
})();

test('no harmless call before, between or after lowers the score of an attack, in any order of arrival', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...attacks),
      fc.array(harmless, { maxLength: 120 }),
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
      fc.boolean(),
      (attack, padding, order, isKnown) => {
        const baseline = isKnown ? history : undefined;
        const bare = emptySession();
        const padded = emptySession();
        const events = exampleEvents(attack).map(({ event }) => event);
        for (const event of events) observe(bare, event);
        const arriving = [...events, ...padding.map(paddingEvent)]
          .map((event) => ({ event, place: order.next().value ?? 0 }))
          .sort((a, b) => a.place - b.place);
        for (const { event } of arriving) observe(padded, event);
        expect(score(padded, { baseline }).score).toBeGreaterThanOrEqual(score(bare, { baseline }).score);
      },
    ),
    { numRuns: 300 },
  );
});

test('no event of an agent lowers a score; only what a person or a policy decided does', () => {
  fc.assert(
    fc.property(shuffledSession, ({ events: stamped }) => {
      const events = stamped.map(({ event, stamp }) => ({ event: ofFewTools(event), stamp }));
      const state = emptySession();
      let before = 0;
      const ofService = (event: RiskEvent) => event.category === 'guardian_decision';
      for (const { event, stamp } of events) if (ofService(event)) observe(state, event, { stamp });
      for (const { event, stamp } of events) {
        if (ofService(event)) continue;
        observe(state, event, { stamp });
        const { score: now } = score(state);
        expect(now).toBeGreaterThanOrEqual(before);
        before = now;
      }
    }),
    { numRuns: 300 },
  );
});

test('an attack in the middle of a hundred thousand calls keeps its score, in at most 8 KiB', () => {
  const state = emptySession();
  const bare = emptySession();
  const [attack = []] = attacks;
  const events = exampleEvents(attack).map(({ event }) => event);
  for (const event of events) observe(bare, event);
  for (let at = 0; at < 100_000; at++) {
    if (at === 77_776) for (const event of events) observe(state, event);
    const tool = ['read_file', 'Edit', 'Bash', 'get_order'][at % 4] as string;
    observe(state, paddingEvent({ tool, given: at, status: 200, at: (at - 77_776) * 10 }, at));
  }
  expect(score(bare).level).not.toBe('low');
  expect(score(state).score).toBeGreaterThanOrEqual(score(bare).score);
  expect(score(state).factors[0]?.evidence.eventIds).toContain(events[1]?.eventId);
  expect(serializeSession(state).length).toBeLessThanOrEqual(8192);
});
