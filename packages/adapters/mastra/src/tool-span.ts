import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import type { AnyExportedSpan } from '@mastra/core/observability';
import { argumentsOf } from './delegation.ts';
import { suspended } from './mastra-calls.ts';

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

/** The tool that a span is the run of, where it runs in this process. */
export function ranTool(span: AnyExportedSpan): string | undefined {
  return outcomes[span.type] === outcomeOf ? toolNameOf(span) : undefined;
}

/** A tool's name as the model knows it: Mastra shows it one that every provider takes. */
function toolNameOf({ entityId, entityName }: AnyExportedSpan): string | undefined {
  const taken = (entityId ?? entityName)?.replace(/[^a-zA-Z0-9_-]/g, '_');
  return taken && (/^[a-zA-Z_]/.test(taken) ? taken : `_${taken}`).slice(0, 63);
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
