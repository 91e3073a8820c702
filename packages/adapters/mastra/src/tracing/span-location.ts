import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import type { AnyExportedSpan } from '@mastra/core/observability';
import { argumentsOf, isDelegation, nameForModel, suspended } from '../mastra-calls.ts';

/** Location of a span. */
export interface SpanLocation {
  /** Agent, if the span is an agent run. */
  readonly agentId: string | undefined;
  readonly threadId: string | undefined;
  /** `true` if the span is a delegation to another agent. */
  readonly isDelegation: boolean;
  /** `true` if the span is a call of a tool. */
  readonly isCall: boolean;
  /** Instructions, if the span is an agent run. */
  readonly instructions: string | undefined;
}

/** Properties of a span, running or exported, that determine its location. */
export interface LocatedSpan {
  readonly type?: string;
  readonly entityId?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly attributes?: object | undefined;
}

/** Returns the location of a span. */
export function spanLocation({ type, entityId, metadata, attributes }: LocatedSpan): SpanLocation {
  const threadId = metadata?.threadId;
  const isRun = type === 'agent_run';
  const { instructions } = (attributes ?? {}) as { readonly instructions?: unknown };
  return {
    agentId: isRun ? entityId : undefined,
    threadId: typeof threadId === 'string' && threadId !== '' ? threadId : undefined,
    isDelegation: type === 'tool_call' && entityId !== undefined && isDelegation(entityId),
    isCall: type?.endsWith('tool_call') ?? false,
    instructions: isRun && typeof instructions === 'string' ? instructions : undefined,
  };
}

/**
 * Returns the agent and the thread of code inside the given spans. Mastra gives each delegation its own thread; the
 * delegating agent's thread is used.
 *
 * @param around - starting with the innermost
 */
export function locate(around: Iterable<SpanLocation>): Pick<SpanLocation, 'agentId' | 'threadId'> {
  let agentId: string | undefined;
  let threadId: string | undefined;
  for (const location of around) {
    agentId ??= location.agentId;
    threadId = location.isDelegation ? location.threadId : (threadId ?? location.threadId);
  }
  return { agentId, threadId };
}

/** A tool call as described by its span. */
interface ToolSpan {
  readonly toolName: string;
  readonly arguments: unknown;
  readonly callId: string | undefined;
  readonly outcome: ToolOutcome;
}

/** Attributes common to the kinds of tool spans. */
interface ToolAttributes {
  readonly toolCallId?: string;
  readonly toolDescription?: string;
  readonly success?: boolean;
}

/** Properties of a span that identify its tool. */
interface NamedSpan {
  readonly type?: string;
  readonly entityId?: string | undefined;
  readonly entityName?: string | undefined;
}

/** Functions that return the outcome of a call, by span type. */
const outcomes: Readonly<Record<string, (span: AnyExportedSpan, attributes: ToolAttributes) => ToolOutcome>> =
  {
    tool_call: outcomeOf,
    mcp_tool_call: outcomeOf,
    provider_tool_call: (span, { success }) =>
      success === false ? failure('The tool of the provider failed.', responseStatuses.threw) : result(span),
    // A client runs a tool that this process cannot run. A tool without a description for the model does not exist.
    client_tool_call: (_, { toolDescription }) =>
      toolDescription === undefined
        ? failure('Unknown tool.', responseStatuses.unknownTool)
        : { ok: true, result: new Response(null, { status: 202 }) },
  };

/** Returns the tool run by a span, running or exported, if it runs in this process. */
export function ranTool(span: NamedSpan): string | undefined {
  return outcomes[span.type ?? ''] === outcomeOf ? toolNameOf(span) : undefined;
}

function toolNameOf({ entityId, entityName }: NamedSpan): string | undefined {
  const name = entityId ?? entityName;
  return name && nameForModel(name);
}

/** Returns the tool call of a span; undefined for other spans. */
export function toolSpan(span: AnyExportedSpan): ToolSpan | undefined {
  const outcome = outcomes[span.type];
  const toolName = toolNameOf(span);
  if (!outcome || toolName === undefined) return undefined;
  const attributes = (span.attributes ?? {}) as ToolAttributes;
  return {
    toolName,
    arguments: argumentsOf(toolName, span.input ?? span.metadata?.args),
    callId: attributes.toolCallId,
    outcome: outcome(span, attributes),
  };
}

function outcomeOf(span: AnyExportedSpan, { success }: ToolAttributes): ToolOutcome {
  const { errorInfo } = span;
  if (errorInfo?.name === 'EagerToolExecutionNotRun') return suspended;
  if (errorInfo) return { ok: false, error: errorInfo };
  // A span that ends without a result belongs to a tool that waits to be resumed.
  return success === undefined ? suspended : result(span);
}

function result({ output }: AnyExportedSpan): ToolOutcome {
  return { ok: true, result: output };
}

function failure(message: string, status: number): ToolOutcome {
  return { ok: false, error: Object.assign(new Error(message), { status }) };
}
