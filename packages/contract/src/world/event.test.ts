import { expect, it } from 'vitest';
import { copiesOf, newEvent } from './event.ts';

const event = newEvent({ agentId: 'a', sessionId: 's' });
const other = newEvent({ agentId: 'a', sessionId: 's' });
const evidence = { eventIds: [event.eventId], eventId: event.eventId };

it.each([
  ['as it was sent', { events: [other, event] }, 1],
  [
    'within a frame',
    {
      timeline: [
        { at: 1, event },
        { at: 2, event: other },
      ],
    },
    1,
  ],
  ['twice in a list', { events: [event, event] }, 2],
  ['once in each of two lists', { events: [event], latest: [event] }, 1],
  ['as evidence only', { factors: [evidence, evidence, evidence] }, 0],
  ['not at all', { events: [other] }, 0],
  ['in no document', undefined, 0],
])('finds the copies of an event that occurs %s', (_how, document, count) => {
  expect(copiesOf(document, event)).toHaveLength(count);
});
