import type { Risk, StoredEvent } from '@actlog/client';
import { expect, test } from 'vitest';
import { factorsByEvent, markOf } from './event-marks.ts';

function event(eventId: string, category: string, payload: Record<string, unknown>): StoredEvent {
  return { eventId, category, payload } as unknown as StoredEvent;
}

const factor = (ruleId: string, delta: number, eventIds: readonly string[]) => ({
  ruleId,
  delta,
  evidence: { eventIds, count: eventIds.length },
});

const risk = {
  factors: [factor('one', 10, ['a', 'b'])],
  dimensions: [{ factors: [factor('one', 10, ['a', 'b']), factor('two', 2, ['a', 'a'])] }],
} as unknown as Risk;

test('marks evidence with each of its factors once', () => {
  const byEvent = factorsByEvent(risk);
  const call = (id: string) => markOf(event(id, 'tool_api', { responseStatus: 200 }), byEvent);
  expect(call('a')).toMatchObject({ kinds: ['risk'], weight: 13 });
  expect(call('a')?.factors.map(({ ruleId }) => ruleId)).toEqual(['one', 'two']);
  expect(call('b')).toMatchObject({ kinds: ['risk'], weight: 11 });
  expect(call('c')).toBeUndefined();
});

test('marks denials, held actions and failed calls, not an approval', () => {
  const none = factorsByEvent(undefined);
  const decided = (decision: string) => markOf(event('d', 'guardian_decision', { decision }), none)?.kinds;
  expect(decided('deny')).toEqual(['denied']);
  expect(decided('denied')).toEqual(['denied']);
  expect(decided('expired')).toBeUndefined();
  expect(decided('require_approval')).toEqual(['held']);
  expect(decided('approved')).toBeUndefined();
  expect(markOf(event('e', 'tool_api', { responseStatus: 403 }), none)?.kinds).toEqual(['denied']);
  expect(markOf(event('e', 'note', { responseStatus: 500 }), none)).toBeUndefined();
});
