import { expect, test } from 'vitest';
import { undocumented } from './documented-responses.ts';

test('finds what does not fit the document in a response', () => {
  const acknowledged = {
    eventId: '01939f8a-2f6e-7c3e-8a52-5a0b6f1d2e3c',
    receivedAt: '2026-11-21T10:02:11.530Z',
    warnings: [],
  };
  expect(undocumented('events.create', 202, acknowledged)).toEqual([]);
  expect(undocumented('events.create', 202, { ...acknowledged, receivedAt: 'now' })).toEqual([
    expect.stringContaining('/receivedAt'),
  ]);
  expect(undocumented('events.create', 400, acknowledged)).toEqual([expect.stringContaining("'error'")]);
  expect(undocumented('events.create', 418, acknowledged)).toEqual([
    'The document has no response 418 of events.create.',
  ]);
});
