import { type Attributes, SpanStatusCode } from '@opentelemetry/api';
import { BasicTracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';
import { defaultResponseStatus } from '../outcome/response-status.ts';
import { failureOf, isInterruption } from './tool-span.ts';

/** Creates a span that ended with an error. */
function failedSpan(attributes: Attributes, exception?: Attributes, message?: string): ReadableSpan {
  const span = new BasicTracerProvider().getTracer('tests').startSpan('execute_tool x', { attributes });
  if (exception) span.addEvent('exception', exception);
  span.setStatus({ code: SpanStatusCode.ERROR, ...(message && { message }) });
  span.end();
  return span as unknown as ReadableSpan;
}

function statusOf(...given: Parameters<typeof failedSpan>): number {
  return defaultResponseStatus({ ok: false, error: failureOf(failedSpan(...given)) });
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

test("reads the status from a recorded exception, which prefers an error's code to its name", () => {
  const statusOfThrown = (thrown: Error) => {
    const span = new BasicTracerProvider().getTracer('tests').startSpan('execute_tool x');
    span.recordException(thrown);
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
    const error = failureOf(span as unknown as ReadableSpan);
    return defaultResponseStatus({ ok: false, error });
  };
  const withCode = (code: string | number) => Object.assign(new Error('it broke'), { code });
  expect(statusOfThrown(new DOMException('left', 'AbortError'))).toBe(499);
  expect(statusOfThrown(new DOMException('late', 'TimeoutError'))).toBe(408);
  expect(statusOfThrown(withCode('ETIMEDOUT'))).toBe(408);
  expect(statusOfThrown(withCode(-32602))).toBe(400);
  expect(statusOfThrown(withCode(404))).toBe(404);
  expect(statusOfThrown(withCode('ENOENT'))).toBe(500);
  expect(statusOfThrown(new RangeError('it broke'))).toBe(500);
});

test('treats a span with an error type as failed, even with an unset status', () => {
  const span = new BasicTracerProvider().getTracer('tests').startSpan('execute_tool x');
  span.setAttribute('error.type', '429');
  span.end();
  const error = failureOf(span as unknown as ReadableSpan);
  expect(defaultResponseStatus({ ok: false, error })).toBe(429);
});

test('returns no failure for a successful span', () => {
  const span = new BasicTracerProvider().getTracer('tests').startSpan('execute_tool x');
  span.end();
  expect(failureOf(span as unknown as ReadableSpan)).toBeUndefined();
});

test('does not treat a tool that waits for a person as failed', () => {
  const byType = failureOf(failedSpan({}, { 'exception.type': 'GraphInterrupt', 'exception.message': '[]' }));
  expect(isInterruption(byType)).toBe(true);
  const message = '[\n  {\n    "value": "sure?"\n  }\n]\n\nGraphInterrupt: [\n  {\n ...';
  expect(isInterruption(failureOf(failedSpan({}, { 'exception.message': message })))).toBe(true);
  expect(isInterruption(failureOf(failedSpan({}, { 'exception.type': 'Error' })))).toBe(false);
});
