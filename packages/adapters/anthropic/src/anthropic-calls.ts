import { ActionDeniedError, type ApprovedChange, responseStatuses, type ToolOutcome } from '@actlog/recorder';
import {
  AdapterCalls,
  type AdapterOptions,
  type HookedCall,
  mcpErrorStatus,
  processWide,
  RunDenials,
  toolContent,
} from '@actlog/recorder/adapter';
import { type AnyMessage, blocksOf } from './message-calls.ts';

/** Version of this package; the release writes it. */
export const version = '0.0.0';

/** Maximum number of denied calls and of runs to remember. */
const maxEntries = 10_000;

/** A denied call whose result has not been sent to the model yet. */
interface DeniedUse {
  readonly toolName: string;
  readonly arguments: unknown;
  readonly denial: ActionDeniedError;
}

/** The denials of the runs of this process: their calls by `tool_use` id, their counts by session. */
class DeniedRuns {
  readonly #uses = new Map<string, DeniedUse>();
  readonly #runs = new Map<string, RunDenials>();

  /** Remembers a denied call, which counts when its result is sent to the model. */
  note(id: string, use: DeniedUse): void {
    put(this.#uses, id, use);
  }

  /**
   * Counts the denials whose results a request sends. A request that sends anything else begins a new run.
   *
   * @returns the last denial, if the model has repeated a denied call so often that the run has to end
   */
  sent(messages: readonly AnyMessage[], sessionId: string | undefined): ActionDeniedError | undefined {
    if (sessionId === undefined) return undefined;
    const results = blocksOf(messages.at(-1)).filter(({ type }) => type === 'tool_result');
    if (results.length === 0) this.#runs.delete(sessionId);
    let ended: ActionDeniedError | undefined;
    for (const { tool_use_id: id = '' } of results) {
      const use = this.#uses.get(id);
      if (!use) continue;
      this.#uses.delete(id);
      const denials = this.#runs.get(sessionId) ?? new RunDenials();
      put(this.#runs, sessionId, denials);
      if (denials.count(use)) ended = use.denial;
    }
    return ended;
  }

  /** Resets the denials of a tool after an allowed call in a session. */
  letThrough(toolName: string, sessionId: string | undefined): void {
    if (sessionId !== undefined) this.#runs.get(sessionId)?.letThrough(toolName);
  }
}

function put<Value>(map: Map<string, Value>, id: string, value: Value): void {
  map.delete(id);
  map.set(id, value);
  if (map.size > maxEntries) map.delete(map.keys().next().value as string);
}

/** Returns the denials of this process. */
export const deniedRuns: () => DeniedRuns = processWide(
  '@actlog/anthropic/denied-runs',
  () => new DeniedRuns(),
);

/** Creates the `AdapterCalls` of this adapter. */
export function anthropicCalls(options: ActlogOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'anthropic',
      sdk: `@actlog/anthropic/${version}`,
      form: 'actlog(tools, { guard })',
      statusOf,
      thrownByTool,
      resultOf: toolContent,
    },
    options,
  );
}

function statusOf(outcome: ToolOutcome, { toolName }: HookedCall): number | undefined {
  if (outcome.ok) return undefined;
  if (isInvalidInput(outcome.error)) return responseStatuses.invalidArguments;
  // The SDK's MCP helpers throw an error result of a server as this error, whose message is the result's text.
  const { name, message } = (outcome.error ?? {}) as { name?: unknown; message?: unknown };
  return name === 'ToolError' ? mcpErrorStatus(String(message), undefined, toolName) : undefined;
}

/** Unwraps the denial of an inner hook from the error that reports it to the model. */
function thrownByTool(error: unknown): unknown {
  const cause = (error as { cause?: unknown } | null | undefined)?.cause;
  return ActionDeniedError.isInstance(cause) ? cause : error;
}

/** Options of the adapter. All are optional. */
export interface ActlogOptions extends AdapterOptions {}

const invalid = processWide('@actlog/anthropic/invalid-input', () => new WeakSet<object>());

/** Remembers an error thrown by a tool's `parse`, from any library. */
export function rememberInvalidInput(error: unknown): void {
  if (typeof error === 'object' && error !== null) invalid().add(error);
}

/** Returns `true` if an error was thrown by a tool's `parse`. */
export function isInvalidInput(error: unknown): boolean {
  return typeof error === 'object' && error !== null && invalid().has(error);
}

/** Adds the sentence about an approver's change to a tool's result for the model; other results stay as they are. */
export function withNotice(content: unknown, { notice }: ApprovedChange): unknown {
  if (typeof content === 'string') return `${content}\n\n${notice}`;
  return Array.isArray(content) ? [...(content as unknown[]), { type: 'text', text: notice }] : content;
}
