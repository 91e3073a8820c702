import { type FoldedCalls, foldCall } from './folded-calls.ts';
import type { CallOutcome, KeptArgument, SessionCall } from './session-call.ts';

/** Maximum number of calls of a session that are kept one by one; older ones are kept as counts and sums. */
export const maxKeptCalls = 100;

/** Maximum number of tools whose older calls are kept as counts and sums. */
const maxFoldedTools = 100;

/** Outcomes by their number in the stored form: append only. */
const outcomes: readonly CallOutcome[] = ['denied', 'running', 'succeeded', 'failed'];

/** Characters of an arguments hash that are kept. An event with the id of a check has its hash, unless it is wrong. */
const keptHashLength = 16;

/** Version of the stored form. */
const version = 1;

type StoredCall = [
  toolName: string,
  argumentsHash: string,
  atMs: number,
  outcome: number,
  endedMs: number,
  agentId: string,
  actionId: string | null,
  shown: Record<string, KeptArgument>,
];

/** Agent and `actionId` of a call that reads text of unknown authors; `null` for a check without one. */
export type UntrustedCall = readonly [agentId: string, actionId: string | null];

interface StoredHistory {
  readonly version: number;
  readonly begunMs: number;
  readonly untrusted: readonly UntrustedCall[];
  readonly forgottenMs: number;
  readonly folded: Record<string, FoldedCalls>;
  readonly calls: readonly StoredCall[];
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
 * Summary of a session's calls that policies read, of bounded size: the newest 100 calls, and counts and sums of older
 * ones. A service stores it with the session and updates it in the transaction of each check that it concerns.
 */
export class CallHistory {
  /** Time of the session's first event or check, in Unix milliseconds: calls before do not exist. */
  readonly begunMs: number;
  #calls: SessionCall[] = [];
  readonly #folded = new Map<string, FoldedCalls>();
  #untrusted: readonly UntrustedCall[] = [];
  #forgottenMs = 0;

  constructor(begunMs: number) {
    this.begunMs = begunMs;
  }

  /**
   * Parses the stored form.
   *
   * @throws Error for another version, and SyntaxError for text that is not JSON.
   */
  static parse(text: string): CallHistory {
    const stored = JSON.parse(text) as StoredHistory;
    if (stored.version !== version) {
      throw new Error(
        `The history of a session has version ${stored.version}, but this release reads ${version}.`,
      );
    }
    const history = new CallHistory(stored.begunMs);
    history.#untrusted = stored.untrusted;
    history.#forgottenMs = stored.forgottenMs;
    for (const [toolName, calls] of Object.entries(stored.folded)) history.#folded.set(toolName, calls);
    history.#calls = stored.calls.map(
      ([toolName, argumentsHash, atMs, outcome, endedMs, agentId, actionId, shown]) => ({
        toolName,
        argumentsHash,
        atMs,
        outcome: outcomes[outcome] as CallOutcome,
        endedMs,
        agentId,
        actionId: actionId ?? undefined,
        arguments: shown,
      }),
    );
    return history;
  }

  /** Calls that are kept one by one, oldest first. */
  get calls(): readonly SessionCall[] {
    return this.#calls;
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

  /**
   * Adds a call, or updates the one with the same agent and `actionId`: a denied call may be allowed later.
   *
   * @param argumentNames - arguments that policies read of calls of its tool
   * @returns `true` if the history changed.
   */
  add(call: SessionCall, argumentNames: Iterable<string>): boolean {
    const index = this.#indexOf(call.agentId, call.actionId);
    const known = this.#calls[index];
    if (known && (known.outcome !== 'denied' || call.outcome === 'denied')) return false;
    if (known) this.#calls.splice(index, 1);
    this.#calls.push(call);
    while (this.#calls.length > maxKeptCalls) this.#fold(this.#calls.shift() as SessionCall, argumentNames);
    return true;
  }

  /** Notes an allowed call of a tool that reads text of unknown authors. Returns `true` if the history changed. */
  addUntrusted(agentId: string, actionId: string | undefined): boolean {
    const isKnown =
      actionId !== undefined &&
      this.#untrusted.some(([agent, action]) => agent === agentId && action === actionId);
    if (isKnown || this.#untrusted.length >= 2) return false;
    this.#untrusted = [...this.#untrusted, [agentId, actionId ?? null]];
    return true;
  }

  /** Returns the ids of running calls, newest first: their events may have arrived. */
  runningIds(): string[] {
    return idsOfRunning(this.#calls).reverse();
  }

  /** Returns the ids of running calls that the next call displaces: afterwards, their end is not noticed any more. */
  foldingIds(): string[] {
    return idsOfRunning(this.#calls.slice(0, Math.max(0, this.#calls.length + 1 - maxKeptCalls)));
  }

  /** Notes that calls before a time may be missing, in Unix milliseconds. */
  forget(beforeMs: number): void {
    this.#forgottenMs = Math.max(this.#forgottenMs, beforeMs);
  }

  /** Ends running calls whose event has arrived. `ends` are the events by the id in lower case. */
  end(ends: ReadonlyMap<string, CallEnd>): void {
    this.#calls = this.#calls.map((call) => {
      const end = call.outcome === 'running' ? ends.get(call.actionId?.toLowerCase() ?? '') : undefined;
      if (
        end?.agentId !== call.agentId ||
        end.toolName !== call.toolName ||
        keptHash(end.argumentsHash) !== keptHash(call.argumentsHash)
      )
        return call;
      const outcome = end.responseStatus < 400 ? 'succeeded' : 'failed';
      return { ...call, outcome, endedMs: Math.max(end.receivedMs, call.atMs) };
    });
  }

  /** Returns the stored form as text. */
  serialize(): string {
    const stored: StoredHistory = {
      version,
      begunMs: this.begunMs,
      untrusted: this.#untrusted,
      forgottenMs: this.#forgottenMs,
      folded: Object.fromEntries(this.#folded),
      calls: this.#calls.map((call) => [
        call.toolName,
        keptHash(call.argumentsHash),
        call.atMs,
        outcomes.indexOf(call.outcome),
        call.endedMs,
        call.agentId,
        call.actionId ?? null,
        call.arguments,
      ]),
    };
    return JSON.stringify(stored);
  }

  #indexOf(agentId: string, actionId: string | undefined): number {
    if (actionId === undefined) return -1;
    return this.#calls.findIndex((call) => call.actionId === actionId && call.agentId === agentId);
  }

  #fold(call: SessionCall, argumentNames: Iterable<string>): void {
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

function idsOfRunning(calls: readonly SessionCall[]): string[] {
  return calls.flatMap(({ outcome, actionId }) =>
    outcome === 'running' && actionId !== undefined ? [actionId] : [],
  );
}

function keptHash(argumentsHash: string): string {
  return argumentsHash.slice(-keptHashLength);
}
