import type { SessionCall } from './stored-call.ts';

/** Maximum window of a condition on the history, in milliseconds. */
export const longestWindowMs = 24 * 3_600_000;

/** Length of a slice of time, in milliseconds. A call may count for up to one slice too long. */
const sliceMs = 15 * 60_000;

/** Sum of an argument, and the number of calls that did not show it as a number. */
export type ArgumentSum = readonly [sum: number, missing: number];

/** Calls of one tool that started in one slice of time, or at any time. */
export interface FoldedSlice {
  /** Start of the slice in Unix milliseconds; 0 for all calls of the tool. */
  readonly fromMs: number;
  readonly count: number;
  readonly successes: number;
  /** Sums by the name of the argument. */
  readonly sums: Readonly<Record<string, ArgumentSum>>;
}

/** Calls of one tool that are too old to be kept one by one. */
export interface FoldedCalls {
  readonly total: FoldedSlice;
  /** Slices within the longest window, oldest first. */
  readonly slices: readonly FoldedSlice[];
  /** Times of the last allowed call, success, and failure or denial, in Unix milliseconds; 0 for none. */
  readonly lastStartMs: number;
  readonly lastSuccessMs: number;
  readonly lastFailureMs: number;
}

const none: FoldedCalls = {
  total: { fromMs: 0, count: 0, successes: 0, sums: {} },
  slices: [],
  lastStartMs: 0,
  lastSuccessMs: 0,
  lastFailureMs: 0,
};

/**
 * Returns the calls with one more, which is older than all calls that are kept one by one.
 *
 * @param names - arguments that may be summed later
 */
export function foldCall(
  folded: FoldedCalls = none,
  call: SessionCall,
  names: Iterable<string>,
): FoldedCalls {
  const failedMs = call.outcome === 'denied' ? call.atMs : call.outcome === 'failed' ? call.endedMs : 0;
  const lastFailureMs = Math.max(folded.lastFailureMs, failedMs);
  if (call.outcome === 'denied') return { ...folded, lastFailureMs };
  const argumentNames = [...names];
  const fromMs = Math.floor(call.atMs / sliceMs) * sliceMs;
  const slices = folded.slices.filter((slice) => slice.fromMs > fromMs - longestWindowMs - sliceMs);
  const same = slices.find((slice) => slice.fromMs === fromMs);
  const others = slices.filter((slice) => slice !== same);
  return {
    total: added(folded.total, call, argumentNames),
    slices: [
      ...others,
      added(same ?? { fromMs, count: 0, successes: 0, sums: {} }, call, argumentNames),
    ].sort((left, right) => left.fromMs - right.fromMs),
    lastStartMs: Math.max(folded.lastStartMs, call.atMs),
    lastSuccessMs:
      call.outcome === 'succeeded' ? Math.max(folded.lastSuccessMs, call.endedMs) : folded.lastSuccessMs,
    lastFailureMs,
  };
}

/** Returns the folded calls of slices that overlap a window, or all calls without a window. */
export function foldedWithin({ total, slices }: FoldedCalls, sinceMs: number): readonly FoldedSlice[] {
  return sinceMs === Number.NEGATIVE_INFINITY
    ? [total]
    : slices.filter(({ fromMs }) => fromMs + sliceMs > sinceMs);
}

function added(slice: FoldedSlice, call: SessionCall, names: readonly string[]): FoldedSlice {
  const sums: Record<string, ArgumentSum> = { ...slice.sums };
  for (const name of new Set([...Object.keys(sums), ...names])) {
    // An argument that no policy read until now is missing in all calls before.
    const [sum, missing] = sums[name] ?? [0, slice.count];
    const value = call.arguments[name];
    sums[name] = typeof value === 'number' ? [sum + value, missing] : [sum, missing + 1];
  }
  return {
    fromMs: slice.fromMs,
    count: slice.count + 1,
    successes: slice.successes + (call.outcome === 'succeeded' ? 1 : 0),
    sums,
  };
}

/** Maximum number of tools of an agent that are kept. */
const maxTools = 1000;

/**
 * Tools that checks have allowed an agent to use since a policy reads them, of bounded size: beyond 1,000 tools, each
 * further one counts as a first use.
 */
export class AgentTools {
  readonly #toolNames: Set<string>;

  constructor(toolNames: Iterable<string> = []) {
    this.#toolNames = new Set(toolNames);
  }

  /** Parses the stored form. @throws SyntaxError for text that is not JSON. */
  static parse(text: string): AgentTools {
    return new AgentTools(JSON.parse(text) as string[]);
  }

  /** `true` if any tool passes the test. */
  has(matches: (toolName: string) => boolean): boolean {
    return [...this.#toolNames].some(matches);
  }

  /** Adds a tool. Returns `true` if the tools changed. */
  add(toolName: string): boolean {
    if (this.#toolNames.has(toolName) || this.#toolNames.size >= maxTools) return false;
    this.#toolNames.add(toolName);
    return true;
  }

  /** Returns the stored form as text. */
  serialize(): string {
    return JSON.stringify([...this.#toolNames]);
  }
}
