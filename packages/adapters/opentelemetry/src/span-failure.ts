import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { textOf } from './span-attributes.ts';

/** `SpanStatusCode.ERROR` of the OpenTelemetry API. */
const errorStatus = 2;
/** `SpanStatusCode.OK`. */
const okStatus = 1;

/** What `DOMException` has for a `code`, which `recordException` tells before the name. */
const legacyCodes: Readonly<Record<string, string>> = { '20': 'AbortError', '23': 'TimeoutError' };

/** What frameworks throw to wait for a person: the tool comes again. */
const interruptions: readonly string[] = [
  'GraphInterrupt',
  'NodeInterrupt',
  'ToolInterruptError',
  'InterruptError',
];

/** The error that a span tells of; undefined for a span that ended well. */
export function failureOf(span: ReadableSpan): Error | undefined {
  const type = textOf(span.attributes, 'error.type');
  const { code } = span.status;
  // "error.type" is set for what failed alone (semantic conventions, "Recording errors").
  if (code === okStatus || (code !== errorStatus && type === undefined)) return undefined;
  const exception = span.events.findLast(({ name }) => name === 'exception')?.attributes;
  const message = textOf(exception, 'exception.message') ?? span.status.message ?? '';
  const error = new Error(message);
  const kind = textOf(exception, 'exception.type') ?? nameInStack(message) ?? type ?? error.name;
  error.name = legacyCodes[kind] ?? kind;
  // "error.type" is an HTTP status, the word "timeout" or a class.
  if (type === 'timeout') error.name = 'TimeoutError';
  const status = [type, kind].find((text) => /^[1-5]\d\d$/.test(text ?? ''));
  // Of an error that has a code, "exception.type" is that, be it a word or the number of an RPC.
  return Object.assign(error, {
    code: /^-\d+$/.test(kind) ? Number(kind) : kind,
    ...(status && { status: Number(status) }),
  });
}

/** LangChain's tracers write the stack behind the message. */
function nameInStack(message: string): string | undefined {
  return /\n\n(\w+): /.exec(message)?.[1];
}

/** Whether a call did not fail, but waits and comes again. */
export function isInterruption(error: unknown): boolean {
  return error instanceof Error && interruptions.includes(error.name);
}
