import { Glob } from '../match/glob.ts';
import type { CallHistory, UntrustedCall } from './call-history.ts';
import { type AgentTools, type FoldedCalls, foldedWithin } from './folded-calls.ts';
import { isKept, type KeptArgument, type SessionCall } from './stored-call.ts';

/** History that a check reads. */
export interface HistoryFacts {
  /** Calls of the session; undefined for a check without a session. */
  readonly session: CallHistory | undefined;
  /** Tools of the agent. */
  readonly agent: AgentTools;
  /** Time of the check, in Unix milliseconds. */
  readonly nowMs: number;
  /** `actionId` of the check, which never counts for itself. */
  readonly actionId: string | undefined;
}

/** Calls that a function of a condition selects. */
export interface CallQuery {
  /** Pattern of the tool, as in `match`. */
  readonly tools: string;
  /** Arguments that must be equal; undefined for any. */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  /** Length of the window in milliseconds; undefined for the whole session. */
  readonly withinMs?: number | undefined;
}

/** Error thrown when the history does not have what a condition reads. */
export class UnknownHistoryError extends Error {
  override readonly name = 'UnknownHistoryError';
}

interface Selection {
  readonly calls: readonly SessionCall[];
  readonly folded: readonly FoldedCalls[];
  readonly sinceMs: number;
}

/** History as one policy sees it in one check. Methods throw {@link UnknownHistoryError} for what is not known. */
export class HistoryView {
  readonly #facts: HistoryFacts;
  readonly #agentId: string;
  readonly #policySinceMs: number;
  readonly #globs = new Map<string, Glob>();

  /** @param policySinceMs - time from which the calls that the policy reads are kept, in Unix milliseconds */
  constructor(facts: HistoryFacts, agentId: string, policySinceMs: number) {
    this.#facts = facts;
    this.#agentId = agentId;
    this.#policySinceMs = policySinceMs;
  }

  /** `true` if a call succeeded. */
  called(query: CallQuery): boolean {
    return this.#lastSuccess(query) > 0 || this.#isKnownNever(query);
  }

  /** `true` if a call of the first tools succeeded, and no call of the others was allowed since. */
  calledAfter(query: CallQuery, others: CallQuery): boolean {
    const successMs = this.#lastSuccess(query);
    if (successMs === 0) return this.#isKnownNever(query);
    const { calls, folded } = this.#select(others);
    const starts = [
      ...calls.filter(isAllowed).map(({ atMs }) => atMs),
      ...folded.map(({ lastStartMs }) => lastStartMs),
    ];
    if (starts.some((startMs) => startMs >= successMs)) return false;
    this.#requireKnown(successMs);
    return true;
  }

  /** `true` if a check of a call was allowed, whatever came of the call. */
  started(query: CallQuery): boolean {
    const { calls, folded, sinceMs } = this.#select(query);
    const isFound =
      calls.some((call) => isAllowed(call) && call.atMs >= sinceMs) ||
      folded.some(({ lastStartMs }) => lastStartMs > 0 && lastStartMs >= sinceMs);
    return isFound || this.#isKnownNever(query);
  }

  /** `true` if a call was denied or failed. */
  failed(query: CallQuery): boolean {
    const { calls, folded, sinceMs } = this.#select(query);
    const isFound =
      calls.some(
        ({ outcome, atMs, endedMs }) =>
          (outcome === 'denied' && atMs >= sinceMs) || (outcome === 'failed' && endedMs >= sinceMs),
      ) || folded.some(({ lastFailureMs }) => lastFailureMs > 0 && lastFailureMs >= sinceMs);
    return isFound || this.#isKnownNever(query);
  }

  /** Returns the number of allowed calls. */
  count(query: CallQuery): number {
    const { calls, folded, sinceMs } = this.#select(query);
    this.#requireKnown(sinceMs);
    const old = folded.flatMap((one) => foldedWithin(one, sinceMs));
    return (
      calls.filter((call) => isAllowed(call) && call.atMs >= sinceMs).length +
      old.reduce((sum, { count }) => sum + count, 0)
    );
  }

  /** Returns the number of calls that succeeded. */
  successes(query: CallQuery): number {
    const { calls, folded, sinceMs } = this.#select(query);
    this.#requireKnown(sinceMs);
    const old = folded.flatMap((one) => foldedWithin(one, sinceMs));
    return (
      calls.filter(({ outcome, endedMs }) => outcome === 'succeeded' && endedMs >= sinceMs).length +
      old.reduce((sum, { successes }) => sum + successes, 0)
    );
  }

  /** Returns the sum of a shown argument of allowed calls. */
  sum(query: CallQuery, argument: string): number {
    const { calls, folded, sinceMs } = this.#select(query);
    this.#requireKnown(sinceMs);
    let sum = 0;
    let missing = 0;
    for (const call of calls) {
      if (!isAllowed(call) || call.atMs < sinceMs) continue;
      const value = call.arguments[argument];
      if (typeof value === 'number' || typeof value === 'bigint') sum += Number(value);
      else missing += 1;
    }
    for (const slice of folded.flatMap((one) => foldedWithin(one, sinceMs))) {
      const [added, unknown] = slice.sums[argument] ?? [0, slice.count];
      sum += added;
      missing += unknown;
    }
    if (missing === 0) return sum;
    throw new UnknownHistoryError(`${missing} earlier calls did not show "${argument}" as a number`);
  }

  /** `true` if a call was allowed of a tool that reads text of unknown authors. */
  untrusted(): boolean {
    const { actionId } = this.#facts;
    const isOther = ([agent, action]: UntrustedCall) =>
      actionId === undefined || action !== actionId || agent !== this.#agentId;
    return this.#session().untrusted.some(isOther) || this.#isKnownNever({ tools: '*' });
  }

  /** `true` if no check of the agent was allowed for a tool that matches. */
  firstUse(tools: string): boolean {
    return !this.#facts.agent.has((toolName) => this.#matches(tools, toolName));
  }

  #lastSuccess(query: CallQuery): number {
    const { calls, folded, sinceMs } = this.#select(query);
    const times = [
      ...calls.filter(({ outcome }) => outcome === 'succeeded').map(({ endedMs }) => endedMs),
      ...folded.map(({ lastSuccessMs }) => lastSuccessMs),
    ];
    return Math.max(0, ...times.filter((timeMs) => timeMs >= sinceMs));
  }

  #select({ tools, arguments: given, withinMs }: CallQuery): Selection {
    const session = this.#session();
    const sinceMs = withinMs === undefined ? Number.NEGATIVE_INFINITY : this.#facts.nowMs - withinMs;
    const entries = Object.entries(given ?? {});
    for (const [name, value] of entries) {
      if (!isKept(comparable(value))) {
        throw new UnknownHistoryError(
          `the argument "${name}" is not a text of at most 200 characters, number or boolean`,
        );
      }
    }
    const calls = session.calls.filter(
      (call) => Math.max(call.atMs, call.endedMs) >= sinceMs && this.#isSelected(call, tools, entries),
    );
    const folded = [...session.folded].filter(([name]) => this.#matches(tools, name)).map(([, one]) => one);
    const reachesFolded = folded.some(
      ({ lastStartMs, lastFailureMs }) => Math.max(lastStartMs, lastFailureMs) >= sinceMs,
    );
    if (entries.length > 0 && reachesFolded) {
      throw new UnknownHistoryError('arguments are only kept for the newest 100 calls of a session');
    }
    return { calls, folded: entries.length > 0 ? [] : folded, sinceMs };
  }

  #isSelected(call: SessionCall, tools: string, given: readonly (readonly [string, unknown])[]): boolean {
    const { actionId } = this.#facts;
    if (actionId !== undefined && call.actionId === actionId && call.agentId === this.#agentId) return false;
    if (!this.#matches(tools, call.toolName)) return false;
    return given.every(([name, value]) => {
      const kept: KeptArgument | undefined = call.arguments[name];
      if (kept === undefined) {
        throw new UnknownHistoryError(`an earlier call of ${call.toolName} did not show "${name}"`);
      }
      return kept === comparable(value);
    });
  }

  #matches(pattern: string, toolName: string): boolean {
    let glob = this.#globs.get(pattern);
    if (!glob) {
      glob = new Glob(pattern);
      this.#globs.set(pattern, glob);
    }
    return glob.matches(toolName);
  }

  #session(): CallHistory {
    const { session } = this.#facts;
    if (session) return session;
    throw new UnknownHistoryError('the check has no sessionId, so it has no history');
  }

  /** Returns `false` if the history is complete for the query. */
  #isKnownNever({ withinMs }: CallQuery): false {
    this.#requireKnown(withinMs === undefined ? Number.NEGATIVE_INFINITY : this.#facts.nowMs - withinMs);
    return false;
  }

  /** @throws UnknownHistoryError unless all calls since this time are known. */
  #requireKnown(sinceMs: number): void {
    const { begunMs, forgottenMs } = this.#session();
    if (forgottenMs > 0 && forgottenMs >= sinceMs) {
      throw new UnknownHistoryError('older calls of the session are not kept any more');
    }
    if (begunMs >= this.#policySinceMs || sinceMs >= this.#policySinceMs) return;
    const since = new Date(this.#policySinceMs).toISOString();
    throw new UnknownHistoryError(`the session began before its history was kept, at ${since}`);
  }
}

function isAllowed({ outcome }: SessionCall): boolean {
  return outcome !== 'denied';
}

/** Returns the value of a condition as arguments have it: a number, unless it is a whole one that would lose digits. */
function comparable(value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
