import { AsyncLocalStorage } from 'node:async_hooks';
import { defaultResponseStatus, type ToolOutcome } from '@actlog/recorder';
import { AdapterCalls, type AdapterOptions, processWide, toolContent } from '@actlog/recorder/adapter';
import type { ToolResponsePart } from 'genkit';

/** Version of this package; the release writes it. */
export const version = '0.0.0';

/** Recorders of tool calls, from one `actlog()`. */
export interface Coverage {
  readonly calls: AdapterCalls;
  /** The same for calls whose generation hides its `abortSignal`: one that needs approval is denied at once. */
  readonly callsWithoutSignal: AdapterCalls;
}

/** Coverages of this process, for all copies of this package. */
interface Coverages {
  /** Coverages of whole applications, by the registry of their `ai`. */
  readonly applications: WeakMap<object, Coverage>;
  /** Coverage of the tool call that the current code is part of. */
  readonly surrounding: AsyncLocalStorage<Coverage>;
  /** Registries of generations with `actlog()` in their `use`. */
  readonly own: WeakSet<object>;
}

/** Coverages of this process. */
export const coverages: () => Coverages = processWide<Coverages>('@actlog/genkit/coverages', () => ({
  applications: new WeakMap(),
  surrounding: new AsyncLocalStorage(),
  own: new WeakSet(),
}));

/**
 * Creates the recorders of one `actlog()`.
 *
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export function createCoverage(options: AdapterOptions): Coverage {
  return { calls: genkitCalls(options), callsWithoutSignal: genkitCalls(options, false) };
}

/**
 * Creates the `AdapterCalls` of this adapter.
 *
 * @param canHold - `true` if the calls notice an abort while they wait for a person's decision
 */
function genkitCalls(options: AdapterOptions, canHold = true): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'genkit',
      sdk: `@actlog/genkit/${version}`,
      form: 'actlog(ai, { guard }) or use: [actlog({ guard })]',
      statusOf: toolOutcomeStatus,
      resultOf: shownResult,
      canHold,
    },
    options,
  );
}

/**
 * Returns the status of a tool's error: `null` if the tool interrupted the generation and may run again, the HTTP code
 * of Genkit's errors, or `undefined` to use the recorder's table.
 */
function toolOutcomeStatus(outcome: ToolOutcome): number | null | undefined {
  if (outcome.ok) return defaultResponseStatus({ ok: true, result: outputOf(outcome.result) });
  if (!(outcome.error instanceof Error)) return undefined;
  if (isInterrupt(outcome.error)) return null;
  const { code, status } = outcome.error as { code?: unknown; status?: unknown };
  // Their `status` is a name, such as INVALID_ARGUMENT, and `code` its HTTP status.
  const isOfGenkit = typeof status === 'string' && typeof code === 'number';
  return isOfGenkit && code >= 400 && code <= 599 ? code : undefined;
}

/** Returns what the tool returned, without Genkit's part of a message around it. */
function outputOf(result: unknown): unknown {
  const { toolResponse } = (result ?? {}) as Partial<ToolResponsePart>;
  return toolResponse ? toolResponse.output : result;
}

/** Returns `true` for the error with which a tool interrupts the generation. */
export function isInterrupt(error: unknown): boolean {
  return error instanceof Error && error.name === 'ToolInterruptError';
}

/** Returns what the model sees of a tool's response: its output, and the text of its parts. */
function shownResult(result: unknown): unknown {
  const { toolResponse } = (result ?? {}) as Partial<ToolResponsePart>;
  if (!toolResponse) return result;
  const { output, content } = toolResponse as { readonly output?: unknown; readonly content?: unknown };
  if (!Array.isArray(content)) return toolContent(output);
  return [toolContent(output), ...content.map((part: { readonly text?: unknown } | null) => part?.text)];
}
