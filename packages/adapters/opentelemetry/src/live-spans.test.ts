import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { BasicTracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';
import { LiveSpans } from './actlog.ts';

const tracer = new BasicTracerProvider().getTracer('tests');

function within(outer: ReadableSpan | undefined, live: LiveSpans): ReadableSpan {
  const context = outer ? trace.setSpanContext(ROOT_CONTEXT, outer.spanContext()) : ROOT_CONTEXT;
  const span = tracer.startSpan('span', {}, context) as unknown as ReadableSpan;
  live.begin(span);
  return span;
}

test('returns the enclosing spans, including those that end earlier', () => {
  const live = new LiveSpans();
  const root = within(undefined, live);
  const middle = within(root, live);
  const leaf = within(middle, live);
  within(root, live);
  expect(live.end(root)).toEqual([]);
  expect(live.end(leaf)).toEqual([middle, root]);
  expect(live.end(leaf)).toEqual([]);
});

test('returns at most a hundred enclosing spans', () => {
  const live = new LiveSpans();
  let leaf = within(undefined, live);
  for (let depth = 0; depth < 150; depth += 1) leaf = within(leaf, live);
  expect(live.end(leaf)).toHaveLength(100);
});

test('forgets the oldest of many that are never ended', () => {
  const live = new LiveSpans();
  const root = within(undefined, live);
  const other = within(undefined, live);
  for (let n = 0; n < 9_998; n += 1) within(undefined, live);
  const leaf = within(other, live);
  expect(live.end(leaf)).toEqual([other]);
  expect(live.end(within(root, live))).toEqual([]);
});
