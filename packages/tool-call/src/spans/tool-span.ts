import { defaultResponseStatus, responseStatuses, type ToolOutcome } from '../outcome/response-status.ts';
import type { Dialect, ToolSpan } from './dialect.ts';
import { type GenAiSpan, jsonOf, type SpanAttributes, scopeOf, textOf } from './genai-span.ts';
import { answeredCall, pydanticAiDialect, toolFacts } from './tool-facts.ts';

/** Result of Strands for a call that a person or a hook cancels, although its status is `error`. */
const cancellation = /"(?:text|response)"\s*:\s*"tool (?:call |execution )?cancell?ed\b/i;
/** Result of Strands for the call of a tool that does not exist. */
const unknownTool = /"(?:text|response)"\s*:\s*"Unknown tool: /;

/**
 * Strands. A finished tool has a status attribute; a tool that waits for a person has none, and its span ends
 * successfully.
 */
const strandsDialect: Dialect = {
  // The scope and the provider are the name of the user's service.
  speaks: ({ attributes }) => attributes['gen_ai.event.start_time'] !== undefined,
  read(span) {
    const tool = genAiTool(span);
    return tool && { ...tool, errorName: errorNameOf(span, tool) };
  },
};

function errorNameOf(span: GenAiSpan, { errorName }: ToolSpan): string | undefined {
  if (span.attributes['gen_ai.tool.status'] === undefined) return 'InterruptError';
  if (errorName === undefined) return undefined;
  const answer = answerOf(span);
  if (cancellation.test(answer)) return 'CancelledError';
  return unknownTool.test(answer) ? 'NoSuchToolError' : errorName;
}

/** Returns the answer to the model, in the place of either version of the conventions. */
function answerOf({ events }: GenAiSpan): string {
  return events
    .map(({ attributes }) => textOf(attributes, 'message', 'gen_ai.output.messages') ?? '')
    .join('\n');
}

/** Traceloop (OpenLLMetry). It uses the class of a LangChain tool; the name is only in the tool's result. */
const traceloopDialect: Dialect = {
  // Its processor rewrites the spans of the AI SDK according to the conventions.
  speaks: ({ attributes }) =>
    attributes['traceloop.span.kind'] !== undefined && attributes['gen_ai.tool.name'] === undefined,
  read(span) {
    const { attributes } = span;
    const isTool =
      attributes['gen_ai.operation.name'] === 'execute_tool' || attributes['traceloop.span.kind'] === 'tool';
    if (!isTool) return undefined;
    const tool = toolFacts(span);
    return { ...tool, toolName: answeredCall(tool.result).toolName ?? tool.toolName };
  },
};

/** Mastra. If a schema rejects arguments or result, the span ends successfully with the rejection as its result. */
const mastraDialect: Dialect = {
  speaks: ({ attributes }) => attributes['mastra.span.type'] !== undefined,
  read(span) {
    const tool = genAiTool(span);
    return tool && { ...tool, errorName: validationError(jsonOf(tool.result)) ?? tool.errorName };
  },
};

function validationError(result: unknown): string | undefined {
  const { error, message, validationErrors } = (result ?? {}) as Record<string, unknown>;
  if (error !== true || typeof message !== 'string' || validationErrors === undefined) return undefined;
  return message.startsWith('Tool input') ? 'ZodError' : 'Error';
}

/** Google's Agent Development Kit. The span of a failed tool has no attributes and no status. */
const adkDialect: Dialect = {
  speaks: (span) => scopeOf(span) === 'gcp.vertex.agent',
  read(span) {
    const ofSpan = /^execute_tool (.+)$/.exec(span.name)?.[1];
    // The tools of one turn have a common span, and one each.
    if (ofSpan === undefined || ofSpan === '(merged)') return undefined;
    const tool = toolFacts(span);
    const isNamed = textOf(span.attributes, 'gen_ai.tool.name', 'tool.name') !== undefined;
    return isNamed ? tool : { ...tool, errorName: tool.errorName ?? 'Error' };
  },
};

/** `SpanStatusCode.UNSET` of the OpenTelemetry API. */
const unsetStatus = 0;

/** Anthropic's SDK, including its packages for other clouds. Every span has a status, except of an aborted run. */
const anthropicDialect: Dialect = {
  speaks: (span) => /^com\.anthropic\.sdk\.typescript(\.|$)/.test(scopeOf(span)),
  read(span) {
    const tool = genAiTool(span);
    return tool && { ...tool, errorName: span.status.code === unsetStatus ? 'AbortError' : tool.errorName };
  },
};

/** `@ai-sdk/otel`. When a run is aborted, it ends the span of a running tool unchanged. */
const aiSdkOtelDialect: Dialect = {
  speaks: (span) => scopeOf(span) === 'gen_ai',
  read(span) {
    const tool = genAiTool(span);
    const { 'gen_ai.execute_tool.duration': duration, 'gen_ai.tool.type': type } = span.attributes;
    const hasEnded = duration !== undefined || tool?.result !== undefined || type !== 'function';
    return tool && (hasEnded ? tool : { ...tool, errorName: 'AbortError' });
  },
};

/** Span of a tool of Claude Code, around one for the permission of its user and one for what ran. */
const claudeCodeTool = 'claude_code.tool';

/** Claude Code. The span of a tool has no outcome: those inside it do, see {@link innerOutcome}. */
const claudeCodeDialect: Dialect = {
  speaks: ({ name }) => name.startsWith('claude_code.'),
  read(span) {
    const toolName = textOf(span.attributes, 'tool_name');
    if (span.name !== claudeCodeTool || toolName === undefined) return undefined;
    return { ...toolFacts(span), toolName };
  },
};

/** Returns the status of the call around a span if that did not succeed; undefined for all other spans. */
export function innerOutcome({ name, attributes }: GenAiSpan): number | undefined {
  const isRejected = name === `${claudeCodeTool}.blocked_on_user` && attributes.decision === 'reject';
  const hasFailed = name === `${claudeCodeTool}.execution` && attributes.success === false;
  return isRejected ? responseStatuses.denied : hasFailed ? responseStatuses.threw : undefined;
}

/** Formats that deviate from the general one. */
const dialects: readonly Dialect[] = [
  adkDialect,
  traceloopDialect,
  anthropicDialect,
  strandsDialect,
  mastraDialect,
  aiSdkOtelDialect,
  pydanticAiDialect,
  claudeCodeDialect,
];

/** Returns the tool call of a span from any emitter. */
export function toolSpanOf(span: GenAiSpan): ToolSpan | undefined {
  // Logfire announces a span that has started by another one.
  if (span.attributes['logfire.span_type'] === 'pending_span') return undefined;
  const dialect = dialects.find(({ speaks }) => speaks(span));
  return dialect ? dialect.read(span) : genAiTool(span);
}

/** Attributes of requests to a model, whose messages name tools and calls. */
const modelKeys = ['gen_ai.request.model', 'gen_ai.response.model', 'llm.request.type', 'llm.model_name'];

/** Longest name of an attribute that is compared. */
const maxNameLength = 200;

/** Name of an attribute with the name of a tool or the id of a call, but not of one in a list of messages. */
const namesTool = /^(?!.*\.\d+\.)(?:.*[._-])?tool[._-]?(?:call[._-]?|use[._-]?)?(?:name|id)$/i;

/**
 * Returns `true` if a span looks like the span of a tool although its format is unknown: it states no other kind, and
 * names a tool.
 */
export function isUnknownToolSpan(span: GenAiSpan): boolean {
  const { attributes, name } = span;
  if (attributes['logfire.span_type'] === 'pending_span') return false;
  if (dialects.some(({ speaks }) => speaks(span)) || isOfOtherKind(attributes)) return false;
  if (/^(?:execute_tool|tool_call|call_tool|tools\/call)\b/.test(name)) return true;
  return (
    modelKeys.every((key) => attributes[key] === undefined) &&
    Object.keys(attributes).some((key) => key.length <= maxNameLength && namesTool.test(key))
  );
}

/** Names of the operation: in OpenTelemetry's conventions, then in other emitters. */
const toolOperations: readonly unknown[] = ['execute_tool', 'tool_call', 'call_tool', 'tools/call', 'tool'];

/** Other operations of the conventions, whose spans may also name a tool. */
const otherOperations: readonly unknown[] = [
  'chat',
  'create_agent',
  'embeddings',
  'generate_content',
  'invoke_agent',
  'invoke_workflow',
  'retrieval',
  'text_completion',
];

/** Attributes in which emitters state the kind of a span, in any case, and some of them as JSON. */
const kindKeys = [
  'openinference.span.kind',
  'traceloop.span.kind',
  'langsmith.span.kind',
  'langfuse.observation.type',
  'mlflow.spanType',
  'lmnr.span.type',
  'agentops.span.kind',
  'gen_ai.span.kind',
  'fi.span.kind',
  'spring.ai.kind',
  'fastmcp.component.type',
  // Genkit's second kind is for tools that return several parts.
  'genkit:metadata:subtype',
  'ai.operationId',
];
const toolKind = /^"?(?:tool|tool_call|tool\.v2|ai\.toolCall)"?$/i;

/**
 * Returns the tool call of a span by OpenTelemetry's semantic conventions for GenAI ("Execute tool span"), or of an
 * emitter that states the kind of a span in another attribute, such as OpenInference, Genkit, the Vercel AI SDK and
 * MCP, or that only names the tool.
 */
function genAiTool(span: GenAiSpan): ToolSpan | undefined {
  return isTool(span.attributes) ? toolFacts(span) : undefined;
}

function isTool(attributes: SpanAttributes): boolean {
  const operation = attributes['gen_ai.operation.name'];
  if (toolOperations.includes(operation)) return true;
  const method = attributes['mcp.method.name'];
  if (method !== undefined) return method === 'tools/call';
  if (kindKeys.some((key) => attributes[key] !== undefined && toolKind.test(String(attributes[key])))) {
    return true;
  }
  if (isOfOtherKind(attributes)) return false;
  return textOf(attributes, 'gen_ai.tool.name', 'lk.function_tool.name') !== undefined;
}

/** Returns `true` if a span that is not of a tool states another kind. */
function isOfOtherKind(attributes: SpanAttributes): boolean {
  return (
    attributes['mcp.method.name'] !== undefined ||
    otherOperations.includes(attributes['gen_ai.operation.name']) ||
    kindKeys.some((key) => attributes[key] !== undefined)
  );
}

/** Maximum number of calls remembered. */
const maxCalls = 1000;

/** A tool call that an instrumentation has reported by a span. */
export interface SeenCall {
  readonly traceId: string;
  /** Instrumentation that created the span. */
  readonly scope: string;
  readonly toolName: string;
  readonly callId?: string | undefined;
  /** `true` if the span is a request in the Model Context Protocol. */
  readonly isMcp: boolean;
}

/** An enclosing span: the call of a tool's span, or `agent` for the span of an agent. */
export type Enclosing = Pick<SeenCall, 'scope' | 'toolName'> | 'agent';

/** Returns the meaning of a span for the spans inside it; undefined for one that is neither of a tool nor of an agent. */
export function enclosingOf(span: GenAiSpan, tool: ToolSpan | undefined): Enclosing | undefined {
  if (tool) return { scope: scopeOf(span), toolName: tool.toolName };
  const { attributes } = span;
  const kind = textOf(attributes, 'openinference.span.kind', 'traceloop.span.kind');
  return attributes['gen_ai.operation.name'] === 'invoke_agent' || kind?.toLowerCase() === 'agent'
    ? 'agent'
    : undefined;
}

/** Returns `true` if a span is a request in the Model Context Protocol. */
export function isMcpSpan(span: GenAiSpan): boolean {
  return span.attributes['mcp.method.name'] !== undefined || /(?:^|[./_-])(?:fast)?mcp$/i.test(scopeOf(span));
}

/** Calls by emitter, because two emitters that instrument the same agent report each call twice. */
export class EmittedCalls {
  /** First emitter of a call, by its trace, id and name. */
  readonly #emitters = new Map<string, string>();

  /**
   * Returns `true` if another emitter has reported the same call, or will, because its span is around this one. A
   * request of the Model Context Protocol inside a tool is the call of that tool, whatever the server calls it.
   *
   * @param around - enclosing spans, innermost first
   */
  isReportedByAnother(call: SeenCall, around: Iterable<Enclosing>): boolean {
    let isOfInnerAgent = false;
    for (const outer of around) {
      if (outer === 'agent') {
        isOfInnerAgent = true;
        continue;
      }
      if (call.isMcp && !isOfInnerAgent) return true;
      if (outer.scope !== call.scope && outer.toolName === call.toolName) return true;
    }
    return this.#first(call) !== call.scope;
  }

  /** Returns the first emitter of this call. */
  #first({ traceId, scope, callId, toolName }: SeenCall): string {
    if (callId === undefined) return scope;
    const key = `${traceId} ${callId} ${toolName}`;
    const known = this.#emitters.get(key);
    if (known !== undefined) return known;
    this.#emitters.set(key, scope);
    const [oldest] = this.#emitters.keys();
    if (this.#emitters.size > maxCalls && oldest !== undefined) this.#emitters.delete(oldest);
    return scope;
  }
}

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
