import { defaultResponseStatus } from '@actlog/recorder';
import { type Attributes, SpanStatusCode } from '@opentelemetry/api';
import { BasicTracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';
import { failureOf, isInterruption } from './span-failure.ts';

/** A span that ended with an error. */
function failedSpan(attributes: Attributes, exception?: Attributes, message?: string): ReadableSpan {
  const span = new BasicTracerProvider().getTracer('tests').startSpan('execute_tool x', { attributes });
  if (exception) span.addEvent('exception', exception);
  span.setStatus({ code: SpanStatusCode.ERROR, ...(message && { message }) });
  span.end();
  return span as unknown as ReadableSpan;
}

function statusOf(...given: Parameters<typeof failedSpan>): number {
  return defaultResponseStatus({ ok: false, error: failureOf(failedSpan(...given)) }, false);
}

test('reads the status of a failure from its kind', () => {
  expect(statusOf({ 'error.type': '404' })).toBe(404);
  expect(statusOf({ 'error.type': 'timeout' })).toBe(408);
  expect(statusOf({ 'error.type': 'tool_error' })).toBe(500);
  expect(statusOf({ 'error.type': '_OTHER' })).toBe(500);
  expect(statusOf({}, { 'exception.type': 'AbortError' })).toBe(499);
  expect(statusOf({}, { 'exception.type': 'ZodError' })).toBe(400);
  expect(statusOf({}, undefined, 'it broke')).toBe(500);
});

test('a span that ended well has no failure', () => {
  const span = new BasicTracerProvider().getTracer('tests').startSpan('execute_tool x');
  span.end();
  expect(failureOf(span as unknown as ReadableSpan)).toBeUndefined();
});

test('a tool that waits for a person has not failed', () => {
  const byType = failureOf(failedSpan({}, { 'exception.type': 'GraphInterrupt', 'exception.message': '[]' }));
  expect(isInterruption(byType)).toBe(true);
  const message = '[\n  {\n    "value": "sure?"\n  }\n]\n\nGraphInterrupt: [\n  {\n ...';
  expect(isInterruption(failureOf(failedSpan({}, { 'exception.message': message })))).toBe(true);
  expect(isInterruption(failureOf(failedSpan({}, { 'exception.type': 'Error' })))).toBe(false);
});
