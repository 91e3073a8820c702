import { type FoldedCalls, foldCall } from './folded-calls.ts';
import { callText, keptHash, parseCall, type SessionCall, type StoredCall } from './stored-call.ts';

/** Number of a session's newest calls that are always kept one by one. */
export const maxKeptCalls = 100;

/** Number of calls that are folded at once: folding each by itself would write the summary with every call. */
const foldedAtOnce = 32;

/** Maximum number of tools whose older calls are kept as counts and sums. */
const maxFoldedTools = 100;

/** Version of the stored form. */
const version = 2;

/** Agent and `actionId` of a call that reads text of unknown authors; `null` for a check without one. */
export type UntrustedCall = readonly [agentId: string, actionId: string | null];

interface StoredSummary {
  readonly version: number;
  readonly begunMs: number;
  readonly untrusted: readonly UntrustedCall[];
  readonly forgottenMs: number;
  readonly folded: Record<string, FoldedCalls>;
}

/** History of a session's calls in its stored form. */
export interface StoredHistory {
  /** Everything but the calls that are kept one by one, as text. */
  readonly summary: string;
  /** Calls that are kept one by one, oldest first. */
  readonly calls: readonly StoredCall[];
}

/** Changes of a history since it was parsed or created. */
export interface HistoryChanges {
  /** `true` if the summary has changed. */
  readonly isSummaryChanged: boolean;
  /** New calls, and calls with another outcome. */
  readonly calls: readonly StoredCall[];
  /** Numbers of stored calls that are not kept any more. */
  readonly removed: readonly number[];
}

/** End of a call, as its event reports it. */
export interface CallEnd {
  readonly agentId: string;
  readonly toolName: string;
  readonly argumentsHash: string;
  readonly responseStatus: number;
  /** Time at which the service received the event, in Unix milliseconds. */
  readonly receivedMs: number;
}

/**
 * Calls of a session that policies read, of bounded size: the newest 100 to 132 calls, and counts and sums of older
 * ones. A service stores them with the session, and the changes in the transaction of each check: in most cases, one
 * call.
 */
export class CallHistory {
  /** Time of the session's first event or check, in Unix milliseconds: calls before do not exist. */
  readonly begunMs: number;
  readonly #calls: KeptCalls;
  readonly #folded = new Map<string, FoldedCalls>();
  #untrusted: readonly UntrustedCall[] = [];
  #forgottenMs = 0;
  #isSummaryChanged = true;

  constructor(begunMs: number, calls: readonly StoredCall[] = []) {
    this.begunMs = begunMs;
    this.#calls = new KeptCalls(calls);
  }

  /**
   * Parses the stored form.
   *
   * @throws Error for another version, and SyntaxError for text that is not JSON.
   */
  static parse({ summary, calls }: StoredHistory): CallHistory {
    const stored = JSON.parse(summary) as StoredSummary;
    if (stored.version !== version) {
      throw new Error(
        `The history of a session has version ${stored.version}, but this release reads ${version}.`,
      );
    }
    const history = new CallHistory(stored.begunMs, calls);
    history.#isSummaryChanged = false;
    history.#untrusted = stored.untrusted;
    history.#forgottenMs = stored.forgottenMs;
    for (const [toolName, folded] of Object.entries(stored.folded)) history.#folded.set(toolName, folded);
    return history;
  }

  /** Calls that are kept one by one, oldest first. */
  get calls(): readonly SessionCall[] {
    return this.#calls.all;
  }

  /** Older calls by tool. */
  get folded(): ReadonlyMap<string, FoldedCalls> {
    return this.#folded;
  }

  /** The first two allowed calls of tools that read text of unknown authors. One may be the call that is checked. */
  get untrusted(): readonly UntrustedCall[] {
    return this.#untrusted;
  }

  /** Time up to which calls may be missing, in Unix milliseconds; 0 if none is. */
  get forgottenMs(): number {
    return this.#forgottenMs;
  }

  /** Stored form of everything but the calls that are kept one by one. */
  get summary(): string {
    const stored: StoredSummary = {
      version,
      begunMs: this.begunMs,
      untrusted: this.#untrusted,
      forgottenMs: this.#forgottenMs,
      folded: Object.fromEntries(this.#folded),
    };
    return JSON.stringify(stored);
  }

  /** Changes since the history was parsed or created. */
  get changes(): HistoryChanges {
    const { changed, removed } = this.#calls;
    return { isSummaryChanged: this.#isSummaryChanged, calls: changed, removed };
  }

  /**
   * Adds a call, or updates the one with the same agent and `actionId`: a denied call may be allowed later.
   *
   * @param argumentNames - arguments that policies read of calls of its tool
   * @returns `true` if the history changed.
   */
  add(call: SessionCall, argumentNames: Iterable<string>): boolean {
    const index = this.#indexOf(call.agentId, call.actionId);
    const known = this.calls[index];
    if (known && (known.outcome !== 'denied' || call.outcome === 'denied')) return false;
    if (known) this.#calls.remove(index, 1);
    this.#calls.add(call);
    for (const old of this.#calls.remove(0, excessOf(this.calls.length))) this.#fold(old, argumentNames);
    return true;
  }

  /** Records an allowed call of a tool that reads text of unknown authors. Returns `true` if the history changed. */
  addUntrusted(agentId: string, actionId: string | undefined): boolean {
    const isKnown =
      actionId !== undefined &&
      this.#untrusted.some(([agent, action]) => agent === agentId && action === actionId);
    if (isKnown || this.#untrusted.length >= 2) return false;
    this.#untrusted = [...this.#untrusted, [agentId, actionId ?? null]];
    this.#isSummaryChanged = true;
    return true;
  }

  /** Returns the ids of running calls, newest first: their events may have arrived. */
  runningIds(): string[] {
    return idsOfRunning(this.calls).reverse();
  }

  /** Returns the ids of running calls that the next call displaces: afterwards, their end is not noticed any more. */
  foldingIds(): string[] {
    return idsOfRunning(this.calls.slice(0, excessOf(this.calls.length + 1)));
  }

  /** Records that calls before a time may be missing, in Unix milliseconds. */
  forget(beforeMs: number): void {
    if (beforeMs <= this.#forgottenMs) return;
    this.#forgottenMs = beforeMs;
    this.#isSummaryChanged = true;
  }

  /** Ends running calls whose event has arrived. `ends` are the events by the id in lower case. */
  end(ends: ReadonlyMap<string, CallEnd>): void {
    if (ends.size === 0) return;
    for (const [index, call] of this.calls.entries()) {
      const end = call.outcome === 'running' ? ends.get(call.actionId?.toLowerCase() ?? '') : undefined;
      if (
        end?.agentId !== call.agentId ||
        end.toolName !== call.toolName ||
        keptHash(end.argumentsHash) !== keptHash(call.argumentsHash)
      )
        continue;
      const outcome = end.responseStatus < 400 ? ('succeeded' as const) : ('failed' as const);
      this.#calls.replace(index, { ...call, outcome, endedMs: Math.max(end.receivedMs, call.atMs) });
    }
  }

  #indexOf(agentId: string, actionId: string | undefined): number {
    if (actionId === undefined) return -1;
    return this.calls.findIndex((call) => call.actionId === actionId && call.agentId === agentId);
  }

  #fold(call: SessionCall, argumentNames: Iterable<string>): void {
    this.#isSummaryChanged = true;
    const folded = this.#folded.get(call.toolName);
    if (!folded && this.#folded.size >= maxFoldedTools) {
      this.forget(call.atMs);
      return;
    }
    this.#folded.set(
      call.toolName,
      foldCall(folded, call, [...argumentNames, ...Object.keys(call.arguments)]),
    );
  }
}

/** Returns how many of the oldest calls are folded. */
function excessOf(count: number): number {
  return count > maxKeptCalls + foldedAtOnce ? count - maxKeptCalls : 0;
}

function idsOfRunning(calls: readonly SessionCall[]): string[] {
  return calls.flatMap(({ outcome, actionId }) =>
    outcome === 'running' && actionId !== undefined ? [actionId] : [],
  );
}

/** Calls of a session that are kept one by one, and what has changed in them since they were read. */
class KeptCalls {
  #calls: SessionCall[] = [];
  readonly #numbers = new Map<SessionCall, number>();
  #lastNumber = 0;
  /** Number of the last call that is stored. */
  #lastStored = 0;
  readonly #changed = new Set<SessionCall>();
  readonly #removed: number[] = [];

  /** @param stored - calls in their stored form, oldest first */
  constructor(stored: readonly StoredCall[] = []) {
    for (const { number, text } of stored) this.#keep(parseCall(text), number);
    this.#lastStored = this.#lastNumber;
  }

  /** The calls, oldest first. */
  get all(): readonly SessionCall[] {
    return this.#calls;
  }

  /** New calls, and calls that were replaced. */
  get changed(): StoredCall[] {
    return [...this.#changed].map((call) => ({ number: this.#numberOf(call), text: callText(call) }));
  }

  /** Numbers of stored calls that were removed. */
  get removed(): readonly number[] {
    return this.#removed;
  }

  /** Adds the newest call. */
  add(call: SessionCall): void {
    // A copy, because two calls may be one object.
    const added = { ...call };
    this.#keep(added, this.#lastNumber + 1);
    this.#changed.add(added);
  }

  /** Replaces the call at an index, which stays in its place. */
  replace(index: number, call: SessionCall): void {
    const known = this.#calls[index] as SessionCall;
    this.#calls[index] = call;
    this.#numbers.set(call, this.#numberOf(known));
    this.#forget(known);
    this.#changed.add(call);
  }

  /** Removes `count` calls from an index on, and returns them. */
  remove(index: number, count: number): readonly SessionCall[] {
    const calls = this.#calls.splice(index, count);
    for (const call of calls) {
      const number = this.#numberOf(call);
      if (number <= this.#lastStored) this.#removed.push(number);
      this.#forget(call);
    }
    return calls;
  }

  #keep(call: SessionCall, number: number): void {
    this.#calls.push(call);
    this.#numbers.set(call, number);
    this.#lastNumber = Math.max(this.#lastNumber, number);
  }

  #numberOf(call: SessionCall): number {
    return this.#numbers.get(call) as number;
  }

  #forget(call: SessionCall): void {
    this.#numbers.delete(call);
    this.#changed.delete(call);
  }
}
