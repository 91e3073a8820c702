import { expect, test } from 'vitest';
import { createEventId } from '../events/event.ts';
import { CallAnnouncements } from './call-announcements.ts';

const ours = new CallAnnouncements('al_test_a-key-of-ours');
const theirs = new CallAnnouncements('al_test_a-key-of-theirs');

function announced(atMs = Date.now()) {
  return {
    eventId: createEventId(atMs),
    atMs,
    agentId: 'agent',
    sessionId: 'session',
    toolName: 'pay',
    argumentsHash: 'sha256:x',
    actionId: 'action',
  };
}

test('opens an announcement with the same secret, once', () => {
  const call = announced();
  const sealed = ours.seal(call);
  expect(sealed).not.toContain('session');
  expect(theirs.open(sealed)).toBeUndefined();
  expect(new CallAnnouncements('al_test_a-key-of-ours').open(sealed)).toEqual(call);
  expect(ours.open(sealed)).toBeUndefined();
  ours.reopen(call);
  expect(ours.open(sealed)).toEqual(call);
});

test('opens the announcement of a call sealed twice only once', () => {
  const call = announced();
  const sealed = [ours.seal(call), ours.seal(call)];
  expect(new Set(sealed).size).toBe(2);
  expect(sealed.map((text) => ours.open(text))).toEqual([call, undefined]);
});

test('rejects altered text, other values and announcements that are too old or too new', () => {
  const sealed = ours.seal(announced());
  const altered = sealed.slice(0, -2) + (sealed.endsWith('AA') ? 'BB' : 'AA');
  for (const text of [altered, sealed.slice(0, 40), '', 'x', 5, null, undefined, 'x'.repeat(100_000)]) {
    expect(ours.open(text)).toBeUndefined();
  }
  for (const ageMs of [301_000, -301_000]) {
    expect(ours.open(ours.seal(announced(Date.now() - ageMs)))).toBeUndefined();
  }
});

test('rejects announcements from before the start of the process', () => {
  const startedMs = Date.now() - process.uptime() * 1000;
  expect(ours.open(ours.seal(announced(Math.floor(startedMs) - 10)))).toBeUndefined();
});

test('rejects sealed values that are not calls', () => {
  const broken = [
    { ...announced(), eventId: '"}' },
    { ...announced(), atMs: Number.NaN },
    { ...announced(), sessionId: undefined },
    { ...announced(), actionId: 5 },
    null,
  ];
  for (const value of broken) expect(ours.open(ours.seal(value as never))).toBeUndefined();
});

test('rejects what it may have forgotten, when there are many', () => {
  const opened = { atMsById: new Map<string, number>(), refusedUntilMs: 0 };
  const flooded = new CallAnnouncements('al_test_a-key-of-ours', () => opened);
  const nowMs = Date.now();
  const sealed = Array.from({ length: 10_001 }, (_, n) => ours.seal(announced(nowMs + n)));
  for (const text of sealed) expect(flooded.open(text)).toBeDefined();
  expect(opened.atMsById.size).toBe(5000);
  expect(flooded.open(sealed[0])).toBeUndefined();
  expect(flooded.open(sealed.at(-1))).toBeUndefined();
  expect(flooded.open(ours.seal(announced(nowMs)))).toBeUndefined();
  expect(flooded.open(ours.seal(announced(nowMs + 10_001)))).toBeDefined();
});

test('seals the outcome of a call for the side that announced it', () => {
  const call = announced();
  const sealed = ours.sealOutcome(call, { responseStatus: 502, atMs: 5 });
  expect(ours.openOutcome(sealed, call.eventId)).toMatchObject({ responseStatus: 502, atMs: 5 });
  expect(ours.openOutcome(sealed, createEventId(Date.now()))).toBeUndefined();
  expect(theirs.openOutcome(sealed, call.eventId)).toBeUndefined();
  expect(ours.openOutcome(ours.seal(call), call.eventId)).toBeUndefined();
});
