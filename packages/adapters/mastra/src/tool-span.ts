import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import type { AnyExportedSpan } from '@mastra/core/observability';
import { argumentsOf } from './delegation.ts';
import { suspended } from './mastra-calls.ts';
import { nameForModel } from './model-name.ts';

/** A tool call as its span tells it. */
export interface ToolSpan {
  readonly toolName: string;
  readonly arguments: unknown;
  readonly callId: string | undefined;
  readonly outcome: ToolOutcome;
}

/** What the different kinds of tool spans have in common. */
interface ToolAttributes {
  readonly toolCallId?: string;
  readonly toolDescription?: string;
  readonly success?: boolean;
}

/** The parts of a span that tell which tool it is about. */
interface NamedSpan {
  readonly type?: string;
  readonly entityId?: string | undefined;
  readonly entityName?: string | undefined;
}

/** By span type: how a call of that kind ended. */
const outcomes: Readonly<Record<string, (span: AnyExportedSpan, attributes: ToolAttributes) => ToolOutcome>> =
  {
    tool_call: outcomeOf,
    mcp_tool_call: outcomeOf,
    provider_tool_call: (span, { success }) =>
      success === false ? failure('The tool of the provider failed.', responseStatuses.threw) : result(span),
    // What nobody here can run is for a client to run; a tool that nobody has described to the model is not there at all.
    client_tool_call: (_, { toolDescription }) =>
      toolDescription === undefined
        ? failure('The tool is not there.', responseStatuses.unknownTool)
        : { ok: true, result: new Response(null, { status: 202 }) },
  };

/** The tool that a span, under way or exported, is the run of, where it runs in this process. */
export function ranTool(span: NamedSpan): string | undefined {
  return outcomes[span.type ?? ''] === outcomeOf ? toolNameOf(span) : undefined;
}

function toolNameOf({ entityId, entityName }: NamedSpan): string | undefined {
  const name = entityId ?? entityName;
  return name && nameForModel(name);
}

/** The tool call that a span tells of; undefined for all other spans. */
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
  // A span that just stops is that of a tool which waits to be resumed.
  return success === undefined ? suspended : result(span);
}

function result({ output }: AnyExportedSpan): ToolOutcome {
  return { ok: true, result: output };
}

function failure(message: string, status: number): ToolOutcome {
  return { ok: false, error: Object.assign(new Error(message), { status }) };
}
