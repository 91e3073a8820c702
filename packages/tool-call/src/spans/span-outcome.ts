import { defaultResponseStatus, responseStatuses, type ToolOutcome } from '../outcome/response-status.ts';
import type { ToolSpan } from './dialect.ts';
import { type GenAiSpan, jsonOf, textOf } from './genai-span.ts';

/** Returns the outcome of a tool call from its span; a result that is JSON is parsed. */
export function spanOutcome(span: GenAiSpan, { errorName, result }: ToolSpan): ToolOutcome {
  const stated = errorName === undefined ? undefined : missingError(errorName);
  // A framework that says so knows better than the status that it gives to every span without a result.
  const error = errorName === 'CancelledError' ? stated : (failureOf(span) ?? stated);
  return error ? { ok: false, error } : { ok: true, result: jsonOf(result) ?? result };
}

/** Returns the `responseStatus` of a tool call from its outcome; `null` if the call waits and will run again. */
export function spanStatus(outcome: ToolOutcome): number | null {
  return !outcome.ok && isInterruption(outcome.error) ? null : defaultResponseStatus(outcome);
}

function missingError(name: string): Error {
  const status = statusOfAbort(name);
  return Object.assign(new Error('The span contains no outcome.'), { name, ...(status && { status }) });
}

/** `SpanStatusCode.ERROR` of the OpenTelemetry API. */
const errorStatus = 2;

/** JavaScript's names of errors that have others elsewhere. */
const names: ReadonlyMap<string, string> = new Map([
  // `recordException` prefers the `code` of a `DOMException` to its name.
  ['20', 'AbortError'],
  ['23', 'TimeoutError'],
  // Python: a canceled task, and arguments that Pydantic rejects.
  ['CancelledError', 'AbortError'],
  ['ValidationError', 'ZodError'],
  // httpx and Java
  ['ReadTimeout', 'TimeoutError'],
  ['ConnectTimeout', 'TimeoutError'],
  ['TimeoutException', 'TimeoutError'],
]);

/** Names of errors of a call that its caller aborted. A span does not show the caller's signal. */
const aborts: readonly string[] = [
  'AbortError',
  'APIUserAbortError',
  'CancelledError',
  'ResponseAborted',
  'ABORT_ERR',
];

/** Errors with which frameworks wait for a person; the tool runs again later. */
const interruptions: readonly string[] = [
  'GraphInterrupt',
  'NodeInterrupt',
  'ToolInterruptError',
  'InterruptError',
];

/**
 * Returns the error of a span; undefined if it ended successfully. Some emitters set the status OK before the tool fails,
 * and the SDKs keep it.
 */
export function failureOf(span: GenAiSpan): Error | undefined {
  const type = errorTypeOf(span);
  const exception = span.events.findLast(({ name }) => name === 'exception')?.attributes;
  // "error.type" is only set on failure (semantic conventions, "Recording errors").
  if (span.status.code !== errorStatus && type === undefined && !exception) return undefined;
  const message = textOf(exception, 'exception.message') ?? span.status.message ?? '';
  const error = new Error(message);
  const thrown = textOf(exception, 'exception.type');
  const kind = withoutModule(
    (thrown === 'Exception' ? nameInRepr(message) : undefined) ??
      thrown ??
      nameInStack(message) ??
      type ??
      error.name,
  );
  error.name = names.get(kind) ?? kind;
  // "error.type" is an HTTP status, the word "timeout" or a class.
  if (type === 'timeout') error.name = 'TimeoutError';
  const stated = [type, kind].find((text) => /^[1-5]\d\d$/.test(text ?? ''));
  const status = stated ?? statusOfAbort(error.name);
  // For an error with a code, "exception.type" is the code, a word or the number of an RPC.
  return Object.assign(error, {
    code: /^-\d+$/.test(kind) ? Number(kind) : kind,
    ...(status && { status: Number(status) }),
  });
}

/** Returns 499 for the name of an error of an aborted call; undefined for any other name. */
function statusOfAbort(name: string): number | undefined {
  return aborts.includes(name) ? responseStatuses.aborted : undefined;
}

/** Returns `error.type`, which may be the number of an HTTP status. */
function errorTypeOf({ attributes }: GenAiSpan): string | undefined {
  const type = attributes['error.type'];
  return typeof type === 'number' ? String(type) : textOf(attributes, 'error.type');
}

/** Returns the name of a class without its module, which Python and Java put before it. */
function withoutModule(kind: string): string {
  return kind.slice(kind.lastIndexOf('.') + 1) || kind;
}

/** Returns the error name from a stack that LangChain's tracers append to the message. */
function nameInStack(message: string): string | undefined {
  return /\n\n(\w+): /.exec(message)?.[1];
}

/** Returns the error name from Python's `repr`, which LangSmith wraps in an `Exception`. */
function nameInRepr(message: string): string | undefined {
  return /^(\w+)\(/.exec(message)?.[1];
}

/** Returns `true` if a call has not failed, but waits and will run again. */
export function isInterruption(error: unknown): boolean {
  return error instanceof Error && interruptions.includes(error.name);
}
