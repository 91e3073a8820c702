import { expect, it } from 'vitest';
import { copiesOf, newEvent, ownerFault, readBackFault, recordsOf } from './event-record.ts';

const event = newEvent({ agentId: 'a', sessionId: 's' });
const other = newEvent({ agentId: 'a', sessionId: 's' });
const evidence = { eventIds: [event.eventId], eventId: event.eventId };
const { eventId, agentId: _agent, sessionId: _session, payload, ...head } = event;

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
  ['twice without its payload', { events: [event, event].map(({ payload: _, ...rest }) => rest) }, 2],
  ['twice, once in upper case', { events: [event, { ...event, eventId: eventId.toUpperCase() }] }, 2],
  ['once in each of two lists', { events: [event], latest: [event] }, 1],
  ['as evidence only', { factors: [evidence, evidence, evidence] }, 0],
  ['not at all', { events: [other] }, 0],
  ['in no document', undefined, 0],
])('counts the copies of an event that occurs %s', (_how, document, count) => {
  expect(copiesOf(document, event)).toBe(count);
});

function fault(document: unknown) {
  return readBackFault(recordsOf(document, eventId, [other.eventId]), event);
}

it.each([
  ['as it was sent', { events: [other, event] }],
  ['without its payload object', { events: [other, { ...head, ...payload, eventId }] }],
  ['with other names', { log: [other, { id: eventId, t: event.sourceTimestamp, ...Object.values(event) }] }],
  ['with its id beside the rest', { log: [other, { key: { eventId }, body: { ...head, payload } }] }],
  ['by its id', { events: { [other.eventId]: other, [eventId]: { ...head, payload } } }],
  ['with its time in seconds', { events: [other, { ...event, sourceTimestamp: seconds() }] }],
])('accepts an event that is returned %s', (_how, document) => {
  expect(fault(document)).toBeUndefined();
});

function seconds() {
  return Date.parse(event.sourceTimestamp) / 1000;
}

it.each([
  ['the hash', { payload: { ...payload, argumentsHash: 'sha256:00' } }, /argumentsHash was sent as/],
  ['the status', { payload: { ...payload, responseStatus: '200' } }, /responseStatus .* returned as "200"/],
  ['no payload', { payload: undefined }, /toolName .* is not returned/],
  ['an empty payload', { payload: {} }, /toolName .* is not returned/],
  ['the time', { sourceTimestamp: '2026-01-01T00:00:00.000Z' }, /sourceTimestamp/],
  ['the category', { category: null }, /category .* returned as null/],
  ['the version', { schemaVersion: '2.0' }, /schemaVersion/],
])('reports %s of an event that was altered', (_what, change, expected) => {
  expect(fault({ events: [other, JSON.parse(JSON.stringify({ ...event, ...change }))] })).toMatch(expected);
});

it.each([
  ['of the event', { events: [other, event] }, undefined],
  ['of the session', { agentId: 'a', events: [other, { ...head, eventId }] }, undefined],
  ['altered', { agentId: 'a', events: [other, { ...event, agentId: 'b' }] }, /agentId .* returned as "b"/],
  [
    'missing',
    {
      events: [
        { ...other, agentId: 'b' },
        { ...head, eventId },
      ],
    },
    /agentId .* is not returned/,
  ],
])('compares the agent of an event, %s', (_where, document, expected) => {
  const found = ownerFault(document, recordsOf(document, eventId, [other.eventId]), event, 'agentId');
  if (expected) expect(found).toMatch(expected);
  else expect(found).toBeUndefined();
});
