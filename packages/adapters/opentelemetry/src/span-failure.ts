import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { textOf } from './span-attributes.ts';

/** `SpanStatusCode.ERROR` of the OpenTelemetry API. */
const errorStatus = 2;

/** What frameworks throw to wait for a person: the tool comes again. */
const interruptions: readonly string[] = ['GraphInterrupt', 'NodeInterrupt', 'ToolInterruptError'];

/** The error that a span tells of; undefined for a span that ended well. */
export function failureOf(span: ReadableSpan): Error | undefined {
  if (span.status.code !== errorStatus) return undefined;
  const exception = span.events.findLast(({ name }) => name === 'exception')?.attributes;
  const type = textOf(span.attributes, 'error.type');
  const message = textOf(exception, 'exception.message') ?? span.status.message ?? '';
  const error = new Error(message);
  error.name = textOf(exception, 'exception.type') ?? nameInStack(message) ?? type ?? error.name;
  // "error.type" is an HTTP status, the word "timeout" or a class (semantic conventions, "Recording errors").
  if (type === 'timeout') error.name = 'TimeoutError';
  return /^[1-5]\d\d$/.test(type ?? '') ? Object.assign(error, { status: Number(type) }) : error;
}

/** LangChain's tracers write the stack behind the message. */
function nameInStack(message: string): string | undefined {
  return /\n\n(\w+): /.exec(message)?.[1];
}

/** Whether a call did not fail, but waits and comes again. */
export function isInterruption(error: unknown): boolean {
  return error instanceof Error && interruptions.includes(error.name);
}
