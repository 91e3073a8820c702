import { expect, test } from 'vitest';
import { parseTraceparent, traceparentOf } from './identifiers.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';
const valid = `00-${traceId}-${spanId}-01`;

test.each([
  [valid, valid],
  [` ${valid}\t`, valid],
  [`cc-${traceId}-${spanId}-03`, `00-${traceId}-${spanId}-03`],
  [`01-${traceId}-${spanId}-00-what the future brings`, `00-${traceId}-${spanId}-00`],
])('reads %j', (value, expected) => {
  expect(parseTraceparent(value)).toBe(expected);
});

test.each([
  undefined,
  null,
  7,
  [valid],
  '',
  'none',
  valid.toUpperCase(),
  `${valid}-more`,
  `${valid}, ${valid}`,
  `ff-${traceId}-${spanId}-01`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId}-${spanId}-1`,
  `01-${traceId}-${spanId}-01.x`,
  `01-${traceId}-${spanId}-01-${'x'.repeat(256)}`,
  `${valid}\nx-injected: 1`,
])('ignores %j', (value) => {
  expect(parseTraceparent(value)).toBeUndefined();
});

test('makes a traceparent of a span, not sampled without flags', () => {
  expect(traceparentOf({ traceId, spanId, traceFlags: 0x301 })).toBe(valid);
  expect(traceparentOf({ traceId, spanId })).toBe(`00-${traceId}-${spanId}-00`);
  expect(traceparentOf({ traceId, spanId: undefined })).toBeUndefined();
});
