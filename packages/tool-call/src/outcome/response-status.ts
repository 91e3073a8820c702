/** Statuses for outcomes without an HTTP response. */
export const responseStatuses = {
  ok: 200,
  accepted: 202,
  invalidArguments: 400,
  denied: 403,
  unknownTool: 404,
  timedOut: 408,
  aborted: 499,
  threw: 500,
} as const;

/** Returns the status of a command from its exit code, which is 124 if it was stopped after its time limit. */
export function exitStatus(code: number): number {
  if (code === 124) return responseStatuses.timedOut;
  return code === 0 ? responseStatuses.ok : responseStatuses.threw;
}

/** Returns the status of a call of OpenAI's shell from the outputs of its commands; undefined if none has failed. */
export function shellStatus(outputs: unknown): number | undefined {
  const ended = (Array.isArray(outputs) ? outputs : []).map((output) => {
    const { type, exitCode, exit_code: code = exitCode } = output?.outcome ?? {};
    return type === 'timeout' ? responseStatuses.timedOut : exitStatus(code ?? 0);
  });
  return ended.find((status) => status !== responseStatuses.ok);
}

/** Error codes of JSON-RPC 2.0 (section 5.1) and of the Model Context Protocol ("Timeouts"). */
const rpcStatuses: ReadonlyMap<unknown, number> = new Map([
  [-32602, responseStatuses.invalidArguments],
  [-32601, responseStatuses.unknownTool],
  [-32001, responseStatuses.timedOut],
]);

const codes = /^(?:MCP error (-\d+): )+/;

/** Errors of servers about a result that violates a schema, although their code means invalid arguments. */
const invalidResult = /output schema|structured content|invalid tools\/call result/i;

/** Errors of servers about an unknown tool, although their code means invalid arguments. */
const unknownTool = /^(?:Tool \S+ (?:not found|disabled)|Unknown tool: )/;

/** Errors of servers that check arguments themselves. */
const invalidArguments = /^(?:Input validation error: |Invalid arguments for tool )/;

/**
 * Returns the status of a tool call from the text of its error in the Model Context Protocol: in a result with
 * `isError`, the text is all that says why the call failed.
 *
 * @param text - text of the result, or message of the client's error, such as `MCP error -32602: Tool find not found`
 * @param code - code of the client's error. Default: the one in the text
 * @param toolName - tool that ran, to ignore errors of a server that the tool calls. Default: any
 * @returns the status; undefined for the text of a tool that failed for another reason
 */
export function mcpErrorStatus(text: string, code?: unknown, toolName?: string): number | undefined {
  if (toolName !== undefined && isOfInnerCall(text, toolName)) return undefined;
  const [prefix = '', inText] = codes.exec(text) ?? [];
  const status = rpcStatuses.get(typeof code === 'number' ? code : Number(inText));
  const words = text.slice(prefix.length);
  if (status === responseStatuses.invalidArguments) {
    if (invalidResult.test(words)) return responseStatuses.threw;
    if (unknownTool.test(words)) return responseStatuses.unknownTool;
  }
  return status ?? (invalidArguments.test(words) ? responseStatuses.invalidArguments : undefined);
}

/** Name of the tool in errors of servers about an unknown tool or invalid arguments. */
const namedTool =
  /(?:^|: )(?:Tool '?(\S+?)'? (?:not found|disabled|parameter validation)|Unknown tool: (\S+)|Invalid arguments for tool (\S+?):)/;

/**
 * Returns `true` if an error message names this tool, whose name a client may have extended with the server's name;
 * `false` if it names another, and undefined if it names none.
 */
function toolNamedIn(text: string, toolName: string): boolean | undefined {
  const named = namedTool.exec(text)?.slice(1).find(Boolean);
  return named === undefined ? undefined : toolName.endsWith(named);
}

/** Returns `true` for a message that names another tool, or none if it has the code of a protocol error. */
function isOfInnerCall(text: string, toolName: string): boolean {
  const isNamed = toolNamedIn(text, toolName);
  return (
    isNamed === false || (isNamed === undefined && /^MCP error -326\d\d: (?!Input validation)/.test(text))
  );
}

/** Outcome of a tool call. */
export type ToolOutcome =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: unknown };

/**
 * Returns the `responseStatus` of a call: an HTTP status, `undefined` to use the table, or `null` if the call has not
 * finished and must not be recorded (a framework that interrupts a tool and runs it again later).
 */
export type ResponseStatusMapping = (outcome: ToolOutcome) => number | null | undefined;

const nameStatuses = byName({
  ZodError: responseStatuses.invalidArguments,
  $ZodError: responseStatuses.invalidArguments,
  ToolInvocationError: responseStatuses.invalidArguments,
  ToolInputParsingException: responseStatuses.invalidArguments,
  InvalidToolInputError: responseStatuses.invalidArguments,
  NoSuchToolError: responseStatuses.unknownTool,
  TimeoutError: responseStatuses.timedOut,
});

const codeStatuses = byName({
  ETIMEDOUT: responseStatuses.timedOut,
  REQUEST_TIMEOUT: responseStatuses.timedOut, // the MCP SDK's second version
  ESOCKETTIMEDOUT: responseStatuses.timedOut,
  ECONNABORTED: responseStatuses.timedOut,
  UND_ERR_HEADERS_TIMEOUT: responseStatuses.timedOut,
  UND_ERR_BODY_TIMEOUT: responseStatuses.timedOut,
  UND_ERR_CONNECT_TIMEOUT: responseStatuses.timedOut,
});

/**
 * Returns the status from the table of the README: the HTTP status of the error or result if it has one, otherwise one
 * for the kind of error. A tool that aborts one of its requests has failed: 499 requires that the caller's signal is
 * aborted.
 *
 * @param signal - the caller's signal, as it is when the call has ended. Default: none
 */
export function defaultResponseStatus(outcome: ToolOutcome, signal?: AbortSignal): number {
  try {
    return outcome.ok ? statusOfResult(outcome.result) : statusOfError(outcome.error, signal);
  } catch {
    return unreadableStatus(outcome); // a getter of the result or of the error threw
  }
}

/** A call whose tool ran. */
export interface ReachedTool {
  readonly toolName: string;
  readonly arguments: unknown;
  /** The caller's signal, as it is when the call has ended. Default: none. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns the status of a call whose tool ran, from the same table. Errors that say that arguments are invalid or that a
 * tool is unknown may be of something that the tool itself calls: they are the tool's failure, unless they are about
 * this call.
 */
export function reachedToolStatus(outcome: ToolOutcome, call: ReachedTool): number {
  try {
    if (outcome.ok) return statusOfResult(outcome.result, call.toolName);
    const { error } = outcome;
    if (call.signal?.aborted || !isAboutInput(error) || isAboutCall(error, call)) {
      return statusOfError(error, call.signal);
    }
    return httpStatusOf(error as object) ?? responseStatuses.threw;
  } catch {
    return unreadableStatus(outcome);
  }
}

/** Returns `true` for an error with the status of invalid arguments or of an unknown tool. */
function isAboutInput(error: unknown): boolean {
  const status = statusOfError(error, undefined);
  return status === responseStatuses.invalidArguments || status === responseStatuses.unknownTool;
}

function isAboutCall(error: unknown, { toolName, arguments: args }: ReachedTool): boolean {
  const { message, issues } = error as { message?: unknown; issues?: unknown };
  if (Array.isArray(issues)) return issues.some((issue) => isAboutArguments(issue, args));
  return typeof message === 'string' && toolNamedIn(message, toolName) === true;
}

/** Returns `true` if an issue of a schema is about a value that is in the arguments, and has the type that it names. */
function isAboutArguments(
  issue: { path?: unknown; received?: unknown; message?: unknown },
  args: unknown,
): boolean {
  const { path, received, message } = issue ?? {};
  if (!Array.isArray(path) || path.length === 0) return false;
  let value = args;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false;
    value = (value as Record<PropertyKey, unknown>)[key as PropertyKey];
  }
  const named = received ?? / received (\w+)/.exec(String(message))?.[1];
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return typeof named !== 'string' || named.toLowerCase() === type;
}

/**
 * Returns the status of a result that is a task of the Model Context Protocol, which continues after the call
 * (revisions 2025-11-25 and 2026-07-28): accepted, unless it has ended; undefined for any other result.
 */
export function taskStatus(result: unknown): number | undefined {
  const { resultType, task } = (result ?? {}) as { resultType?: unknown; task?: unknown };
  const { taskId, status, error } = (resultType === 'task' ? result : (task ?? {})) as Record<
    string,
    unknown
  >;
  if (typeof taskId !== 'string') return undefined;
  if (status === 'cancelled') return responseStatuses.aborted;
  if (status !== 'failed') return responseStatuses.accepted;
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return mcpErrorStatus(String(message ?? ''), code) ?? responseStatuses.threw;
}

/** Returns the status of an outcome that cannot be inspected: it is only known whether the tool threw. */
export function unreadableStatus(outcome: ToolOutcome): number {
  return outcome.ok ? responseStatuses.ok : responseStatuses.threw;
}

/** Returns `true` if a value is valid in an event: a 32-bit integer (specification, "Event"). */
export function isResponseStatus(value: unknown): value is number {
  return typeof value === 'number' && (value | 0) === value;
}

/** Inspects a result only if its type is known, because fields of a tool's data may mean anything. */
function statusOfResult(result: unknown, toolName?: string): number {
  if (typeof result !== 'object' || result === null) return responseStatuses.ok;
  // Also a response of another class than the platform's, such as that of undici and of node-fetch.
  if (Object.prototype.toString.call(result) === '[object Response]') {
    const { status } = result as { status?: unknown };
    if (typeof status === 'number') return status || responseStatuses.threw; // 0 if there was no response
  }
  const { resultType } = result as { resultType?: unknown };
  const ofTask = resultType === 'task' ? taskStatus(result) : undefined;
  if (ofTask !== undefined) return ofTask;
  // An MCP tool result (Model Context Protocol, "Error Handling").
  const { isError, content } = result as { isError?: unknown; content?: unknown };
  if (isError !== true || !Array.isArray(content)) return responseStatuses.ok;
  const [first] = content as readonly ({ readonly text?: unknown } | null | undefined)[];
  const text = String(first?.text);
  return mcpErrorStatus(text, undefined, toolName) ?? responseStatuses.threw;
}

function statusOfError(error: unknown, signal: AbortSignal | undefined): number {
  // The caller aborted, so the tool's error is a consequence, and may be anything.
  if (signal?.aborted) return statusOfAbort(error, signal);
  if (typeof error !== 'object' || error === null) return responseStatuses.threw;
  const { name, code, message } = error as { name?: unknown; code?: unknown; message?: unknown };
  const text = typeof message === 'string' ? message : '';
  return (
    httpStatusOf(error) ??
    (typeof code === 'number' || text.startsWith('MCP error ') ? mcpErrorStatus(text, code) : undefined) ??
    nameStatuses.get(name) ??
    codeStatuses.get(code) ??
    (name === 'TypeError' ? statusOfFetchFailure(error) : undefined) ??
    responseStatuses.threw
  );
}

/** Returns the status of an aborted call. A timeout shows in the name of the signal's reason or of the thrown error. */
function statusOfAbort(error: unknown, { reason }: AbortSignal): number {
  const isTimeout = [error, reason].some(
    (thrown) => (thrown as { name?: unknown } | null | undefined)?.name === 'TimeoutError',
  );
  return isTimeout ? responseStatuses.timedOut : responseStatuses.aborted;
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
