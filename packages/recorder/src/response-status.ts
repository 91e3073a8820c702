/** How a tool call ended. */
export type ToolOutcome =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: unknown };

/**
 * Gives the `responseStatus` of a call: an HTTP status, `undefined` for "use the table", or `null` for "this was no
 * finished call, record nothing" (a framework that interrupts a tool and runs it again later).
 */
export type ResponseStatusMapping = (outcome: ToolOutcome) => number | null | undefined;

/** The statuses that stand for ways in which a call ends without an HTTP answer. */
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
 * The table of the README: the HTTP status of the error or of the result where it has one, else what the kind of
 * error says.
 *
 * @param isAborted - whether the caller's signal had aborted when the call ended
 */
export function defaultResponseStatus(outcome: ToolOutcome, isAborted: boolean): number {
  try {
    return outcome.ok ? statusOfResult(outcome.result) : statusOfError(outcome.error, isAborted);
  } catch {
    return unreadableStatus(outcome); // a getter of the result or of the error threw
  }
}

/** The status of an outcome that cannot be looked at: all that is known is whether the tool threw. */
export function unreadableStatus(outcome: ToolOutcome): number {
  return outcome.ok ? responseStatuses.ok : responseStatuses.threw;
}

/** Whether a value can stand in an event: a 32-bit integer (specification, "Event"). */
export function isResponseStatus(value: unknown): value is number {
  return typeof value === 'number' && (value | 0) === value;
}

/** A result is looked at only where its type says what it is: fields of a tool's own data mean anything. */
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
  // The caller gave up: whatever the tool threw then is about that. A timeout signal says so by its name.
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

/** `fetch` throws a TypeError for every failure; which one it was, Node says by the code of its cause. */
function statusOfFetchFailure({ cause }: { cause?: unknown }): number | undefined {
  const { code } = (cause ?? {}) as { code?: unknown };
  return codeStatuses.get(code);
}

/**
 * `status` or `statusCode` of an error or of its `response`, as HTTP clients set them. Below 300 it is no failure, and
 * such an error none of theirs: what a command exits with is a `status`, too (`execSync`).
 */
function httpStatusOf(error: object): number | undefined {
  const { status, statusCode, response } = error as Record<string, unknown>;
  const ofResponse =
    typeof response === 'object' && response !== null ? (response as { status?: unknown }) : {};
  return [status, statusCode, ofResponse.status].find(isHttpFailure);
}

/** Finds the names that are listed and no others, as an object would that has a `constructor`. */
function byName(statuses: Readonly<Record<string, number>>): ReadonlyMap<unknown, number> {
  return new Map(Object.entries(statuses));
}

function isHttpFailure(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 300 && value <= 599;
}
