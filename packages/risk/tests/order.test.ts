import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { emptyBaseline, learn, parseBaseline, serializeBaseline } from '../src/baseline/baseline.ts';
import type { RiskEvent } from '../src/risk-event.ts';
import { score } from '../src/score.ts';
import { observe } from '../src/session/observe.ts';
import { parseSession, serializeSession } from '../src/session/session-codec.ts';
import { emptySession } from '../src/session/session-state.ts';
import { shuffledSession } from './event-arbitrary.ts';

describe('a session', () => {
  test('has the same state and score for any order of its events', () => {
    fc.assert(
      fc.property(shuffledSession, ({ events, shuffled }) => {
        const [one, other] = [emptySession(), emptySession()];
        for (const { event, stamp } of events) observe(one, event, { stamp });
        for (const { event, stamp } of shuffled) observe(other, event, { stamp });
        expect(serializeSession(other)).toBe(serializeSession(one));
        expect(JSON.stringify(score(other))).toBe(JSON.stringify(score(one)));
      }),
      { numRuns: 300 },
    );
  });

  test('has the same state for any order of events at the start of 1970', () => {
    const refused = (eventId: string, timestampMs: number): RiskEvent => ({
      eventId,
      agentId: 'a',
      sessionId: 's',
      timestampMs,
      category: 'tool_api',
      schemaVersion: '1.0',
      toolName: 'get_secret',
      responseStatus: 401,
    });
    const [first, second] = [refused('a', 0), refused('b', 1)];
    const [one, other] = [emptySession(), emptySession()];
    for (const event of [first, second]) observe(one, event);
    for (const event of [second, first]) observe(other, event);
    expect(serializeSession(other)).toBe(serializeSession(one));
  });

  test('has the same state when it was stored and read again on the way', () => {
    fc.assert(
      fc.property(shuffledSession, ({ events, shuffled, storedAt }) => {
        const one = emptySession();
        let other = emptySession();
        for (const { event, stamp } of events) observe(one, event, { stamp });
        for (const [at, { event, stamp }] of shuffled.entries()) {
          if (at === storedAt) other = parseSession(serializeSession(other));
          observe(other, event, { stamp });
        }
        other = parseSession(serializeSession(other));
        expect(serializeSession(other)).toBe(serializeSession(one));
        expect(JSON.stringify(score(other))).toBe(JSON.stringify(score(one)));
      }),
      { numRuns: 300 },
    );
  });
});

describe('a baseline', () => {
  test('is the same for any order of learning, and through storage', () => {
    fc.assert(
      fc.property(fc.array(shuffledSession, { maxLength: 20 }), fc.nat(), (sessions, turn) => {
        const states = sessions.map(({ events }, index) => {
          const state = emptySession();
          for (const { event, stamp } of events)
            observe(state, { ...event, sessionId: `s${index}` }, { stamp });
          return state;
        });
        const turned = [...states.slice(turn % 20), ...states.slice(0, turn % 20)];
        const [one, other] = [states, turned].map((order) => {
          const baseline = emptyBaseline();
          for (const state of order) learn(baseline, state, score(state));
          return baseline;
        }) as [ReturnType<typeof emptyBaseline>, ReturnType<typeof emptyBaseline>];
        expect(serializeBaseline(other)).toBe(serializeBaseline(one));
        expect(serializeBaseline(parseBaseline(serializeBaseline(one)))).toBe(serializeBaseline(one));
      }),
      { numRuns: 60 },
    );
  });
});
