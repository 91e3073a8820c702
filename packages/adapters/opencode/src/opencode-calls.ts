import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import {
  AdapterCalls,
  type AdapterOptions,
  type HookedCall,
  mcpErrorStatus,
  toolContent,
} from '@actlog/recorder/adapter';
import type { SessionPlace } from './sessions.ts';
import { version } from './version.ts';

/** Tool that opencode runs instead of one that does not exist, or whose arguments are no JSON. */
const invalidTool = 'invalid';

/** Creates the `AdapterCalls` of this adapter. */
export function opencodeCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'opencode',
      sdk: `@actlog/opencode/${version}`,
      form: '"plugin": [["@actlog/opencode", { "guard": … }]] or actlog(input, { guard })',
      statusOf: toolOutcomeStatus,
      resultOf: shownResult,
    },
    options,
  );
}

/** Returns `true` for a call that reaches its tool. */
export function runsTool(tool: string): boolean {
  return tool !== invalidTool;
}

/** Records a call of a tool that does not exist, or whose arguments are no JSON. */
export function recordInvalid(calls: AdapterCalls, place: SessionPlace, callId: string, args: unknown): void {
  const { tool, error: text } = (args ?? {}) as { readonly tool?: unknown; readonly error?: unknown };
  if (typeof tool !== 'string' || !calls.covers(tool)) return;
  const isUnknown = /\bunavailable tool\b/.test(String(text));
  const status = isUnknown ? responseStatuses.unknownTool : responseStatuses.invalidArguments;
  const error = Object.assign(new Error('The tool did not run.'), { status });
  // The arguments of the call are not passed on.
  calls.record({ ...place, toolName: tool, callId, arguments: undefined }, { ok: false, error });
}

/** Returns an error with the status that opencode's text for the model tells. */
export function failureOf(tool: string, text: string): Error {
  return Object.assign(new Error(text), { status: statusOfText(tool, text) });
}

function statusOfText(tool: string, text: string): number {
  if (text.startsWith(`The ${tool} tool was called with invalid arguments`)) {
    return responseStatuses.invalidArguments;
  }
  const isRefused =
    text.startsWith('The user rejected permission to use this specific tool call') ||
    text.startsWith('The user has specified a rule which prevents you from using this specific tool call');
  if (isRefused) return responseStatuses.denied;
  if (text === 'Tool execution aborted') return responseStatuses.aborted;
  const status = mcpErrorStatus(text) ?? responseStatuses.threw;
  const isOfModel = status === responseStatuses.invalidArguments || status === responseStatuses.unknownTool;
  return isOfModel && !isAbout(tool, text) ? responseStatuses.threw : status;
}

/** Returns `true` for the text of an MCP server about this tool: the tool may have called another server. */
function isAbout(tool: string, text: string): boolean {
  const [, named] =
    /(?:^|: )(?:Tool '?|Unknown tool: |Invalid arguments for tool )([^\s':]+)/.exec(text) ?? [];
  return named !== undefined && tool.endsWith(named);
}

/** Returns the status of a command that failed, which opencode reports as a result; undefined for all other outcomes. */
function toolOutcomeStatus(outcome: ToolOutcome, { toolName }: HookedCall): number | undefined {
  if (!outcome.ok || toolName !== 'bash') return undefined;
  const { metadata } = (outcome.result ?? {}) as { readonly metadata?: { readonly exit?: unknown } };
  const exit = metadata?.exit;
  return exit === undefined || exit === 0 ? undefined : responseStatuses.threw;
}

/** Returns what the model sees of a result: the text, or the content of an MCP server. */
function shownResult(result: unknown): unknown {
  const { output } = (result ?? {}) as { readonly output?: unknown };
  return typeof output === 'string' ? toolContent([{ type: 'text', text: output }]) : toolContent(result);
}
