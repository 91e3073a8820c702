import fc from 'fast-check';
import { expect, test } from 'vitest';
import { emptyBaseline, learn } from '../src/baseline/baseline.ts';
import type { RiskEvent } from '../src/risk-event.ts';
import { exampleEvents } from '../src/rule-example.ts';
import { score } from '../src/score.ts';
import { observe } from '../src/session/observe.ts';
import { emptySession } from '../src/session/session-state.ts';
import { ofFewTools, shuffledSession } from './event-arbitrary.ts';

/** Plays the same events as a session with another id. */
function play(events: readonly { readonly event: RiskEvent; readonly stamp: number }[], sessionId: string) {
  const state = emptySession();
  for (const { event, stamp } of events) observe(state, { ...event, sessionId }, { stamp });
  return state;
}

const workTools = [
  'fetch_web_page',
  'read_inbox',
  'read_channel',
  'get_secret',
  'list_customers',
  'create_event',
  'send_email',
  'post_message',
  'publish_page',
  'delete_email',
  'transfer_funds',
  'run_shell',
  'write_file',
  'grant_role',
  'add_memory',
];

const fromText = { from: 'tool', as: 'text', toolName: 'read_inbox' } as const;

/** Work with few or many kinds of tools, in which texts may aim actions. */
const work = fc
  .subarray(workTools, { minLength: 1 })
  .chain((tools) =>
    fc.array(
      fc.record({
        tool: fc.constantFrom(...tools),
        given: fc.constantFrom('a', 'b', 'c'),
        status: fc.constantFrom(200, 200, 200, 403, 500),
        origins: fc.constantFrom({}, {}, { to: fromText }, { to: { from: 'user' } as const }),
      }),
      { minLength: 1, maxLength: 30 },
    ),
  )
  .map((steps) => exampleEvents(steps));

const anyEvents = shuffledSession.map(({ events }) =>
  events.map(({ event, stamp }) => ({ event: ofFewTools(event), stamp })),
);

test.each([
  ['work with tools', work],
  ['any events', anyEvents],
] as const)(
  'learning from sessions never raises the score of a later one with the same events: %s',
  (_, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, (events) => {
        const later = play(events, 'later');
        const baseline = emptyBaseline();
        let before = score(later).score;
        for (let past = 1; past <= 7; past++) {
          const state = play(events, `past ${past}`);
          learn(baseline, state, score(state, { baseline }), { isConfirmed: true });
          const { score: now } = score(later, { baseline });
          expect(now).toBeLessThanOrEqual(before);
          before = now;
        }
      }),
      { numRuns: 500 },
    );
  },
);
