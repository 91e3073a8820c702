import { BasicTracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { expectTypeOf, test } from 'vitest';
import { actlog } from './index.ts';

test('it is a span processor', () => {
  expectTypeOf(actlog()).toEqualTypeOf<SpanProcessor>();
  expectTypeOf(new BasicTracerProvider({ spanProcessors: [actlog()] })).toEqualTypeOf<BasicTracerProvider>();
});

test('it guards nothing, and its options say so', () => {
  // @ts-expect-error -- a span tells of a call that has run
  actlog({ guard: { mode: 'enforce' } });
});
