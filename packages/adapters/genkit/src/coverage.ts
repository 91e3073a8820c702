import { AsyncLocalStorage } from 'node:async_hooks';
import { AdapterCalls, type AdapterOptions, processWide } from '@actlog/recorder/adapter';
import { shownResult, toolOutcomeStatus } from './tool-outcome.ts';
import { version } from './version.ts';

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
  /** Registries of generations that name `actlog()` in their own `use`. */
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
