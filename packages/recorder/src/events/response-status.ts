/** Outcome of a tool call. */
export type ToolOutcome =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: unknown };

/**
 * Returns the `responseStatus` of a call: an HTTP status, `undefined` to use the table, or `null` if the call has not
 * finished and must not be recorded (a framework that interrupts a tool and runs it again later).
 */
export type ResponseStatusMapping = (outcome: ToolOutcome) => number | null | undefined;

/** Statuses for outcomes without an HTTP response. */
export const responseStatuses = {
  ok: 200,
  invalidArguments: 400,
  denied: 403,
  unknownTool: 404,
  timedOut: 408,
  aborted: 499,
  threw: 500,
} as const;

/** JSON-RPC and MCP error codes (JSON-RPC 2.0, section 5.1; Model Context Protocol, "Timeouts"). */
const rpcStatuses: Readonly<Record<number, number>> = {
  [-32602]: responseStatuses.invalidArguments,
  [-32601]: responseStatuses.unknownTool,
  [-32001]: responseStatuses.timedOut,
};

const nameStatuses = byName({
  ZodError: responseStatuses.invalidArguments,
  $ZodError: responseStatuses.invalidArguments,
  ToolInvocationError: responseStatuses.invalidArguments,
  ToolInputParsingException: responseStatuses.invalidArguments,
  InvalidToolInputError: responseStatuses.invalidArguments,
  NoSuchToolError: responseStatuses.unknownTool,
  TimeoutError: responseStatuses.timedOut,
  AbortError: responseStatuses.aborted,
  APIUserAbortError: responseStatuses.aborted,
  ResponseAborted: responseStatuses.aborted,
});

const codeStatuses = byName({
  ABORT_ERR: responseStatuses.aborted,
  ETIMEDOUT: responseStatuses.timedOut,
  ESOCKETTIMEDOUT: responseStatuses.timedOut,
  ECONNABORTED: responseStatuses.timedOut,
  UND_ERR_HEADERS_TIMEOUT: responseStatuses.timedOut,
  UND_ERR_BODY_TIMEOUT: responseStatuses.timedOut,
  UND_ERR_CONNECT_TIMEOUT: responseStatuses.timedOut,
});

/**
 * Returns the status from the table of the README: the HTTP status of the error or result if it has one, else one for
 * the kind of error.
 *
 * @param isAborted - `true` if the caller's signal had aborted when the call ended
 */
export function defaultResponseStatus(outcome: ToolOutcome, isAborted: boolean): number {
  try {
    return outcome.ok ? statusOfResult(outcome.result) : statusOfError(outcome.error, isAborted);
  } catch {
    return unreadableStatus(outcome); // a getter of the result or of the error threw
  }
}

/** Returns the status of an outcome that cannot be inspected: it is only known whether the tool threw. */
export function unreadableStatus(outcome: ToolOutcome): number {
  return outcome.ok ? responseStatuses.ok : responseStatuses.threw;
}

/** Returns `true` if a value is valid in an event: a 32-bit integer (specification, "Event"). */
export function isResponseStatus(value: unknown): value is number {
  return typeof value === 'number' && (value | 0) === value;
}

/** Inspects a result only if its type is known, because fields of a tool's own data may mean anything. */
function statusOfResult(result: unknown): number {
  if (typeof result !== 'object' || result === null) return responseStatuses.ok;
  if (result instanceof Response) return result.status;
  // An MCP tool result (Model Context Protocol, "Error Handling").
  const { isError, content } = result as { isError?: unknown; content?: unknown };
  return isError === true && Array.isArray(content) ? responseStatuses.threw : responseStatuses.ok;
}

function statusOfError(error: unknown, isAborted: boolean): number {
  if (typeof error !== 'object' || error === null) {
    return isAborted ? responseStatuses.aborted : responseStatuses.threw;
  }
  const { name, code } = error as { name?: unknown; code?: unknown };
  // The caller aborted, so the tool's error is a consequence. The error of a timeout signal has its own name.
  if (isAborted) return name === 'TimeoutError' ? responseStatuses.timedOut : responseStatuses.aborted;
  return (
    httpStatusOf(error) ??
    (typeof code === 'number' ? rpcStatuses[code] : undefined) ??
    nameStatuses.get(name) ??
    codeStatuses.get(code) ??
    (name === 'TypeError' ? statusOfFetchFailure(error) : undefined) ??
    responseStatuses.threw
  );
}

/** `fetch` throws a TypeError for every failure; Node identifies it by the code of its cause. */
function statusOfFetchFailure({ cause }: { cause?: unknown }): number | undefined {
  const { code } = (cause ?? {}) as { code?: unknown };
  return codeStatuses.get(code);
}

/**
 * Returns `status` or `statusCode` of an error or of its `response`, as set by HTTP clients. A value below 300 is not a
 * failure and not from an HTTP client: the exit code of a command is also named `status` (`execSync`).
 */
function httpStatusOf(error: object): number | undefined {
  const { status, statusCode, response } = error as Record<string, unknown>;
  const ofResponse =
    typeof response === 'object' && response !== null ? (response as { status?: unknown }) : {};
  return [status, statusCode, ofResponse.status].find(isHttpFailure);
}

/** Creates a lookup that, unlike an object, has no inherited names such as `constructor`. */
function byName(statuses: Readonly<Record<string, number>>): ReadonlyMap<unknown, number> {
  return new Map(Object.entries(statuses));
}

function isHttpFailure(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 300 && value <= 599;
}
