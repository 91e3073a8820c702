import { stampNames } from '../risk-event.ts';
import { Actions } from './actions.ts';
import { BottomK, PairExtremes } from './bottom-k.ts';
import { emptyTally, sessionMarks, type Tally } from './mark.ts';

/** Data that a session keeps about one tool. */
export interface ToolTally {
  /** Truncated name, for explanations. */
  name: string;
  readonly bits: number;
  readonly verb: number;
  readonly noun: number;
  /** Calls that were not refused for missing permissions. */
  count: number;
  /** Times of calls by their outcome; 0 for none. */
  firstSuccessMs: number;
  lastSuccessMs: number;
  firstRefusedMs: number;
  lastFailedMs: number;
}

/** Data that a session keeps about one participating agent. */
export interface AgentTally {
  count: number;
  failures: number;
}

/** Data that a session keeps about one schemaVersion. */
export interface VersionTally {
  version: string;
  firstMs: number;
  lastMs: number;
}

/** Maximum numbers of tools of each kind, actions, agents, recipients and schema versions that a session keeps. */
export const kept = { tools: 14, actions: 14, agents: 6, recipients: 12, versions: 4 } as const;

/**
 * State of a session for scoring, a few kilobytes for any number of events. It depends only on the set of events and
 * their contexts, not on their order.
 */
export interface SessionState {
  /** Hash of the sessionId; 0 before the first event. */
  session: number;
  eventCount: number;
  /** Tallies by `sessionMarkIndex`. */
  readonly marks: readonly Tally[];
  /** Tallies by `stampIndex`. */
  readonly stamps: readonly Tally[];
  /** Tools that act. */
  readonly acting: BottomK<ToolTally>;
  /** Tools that read. */
  readonly looking: BottomK<ToolTally>;
  readonly agents: BottomK<AgentTally>;
  readonly recipients: BottomK<true>;
  readonly versions: BottomK<VersionTally>;
  readonly actions: Actions;
  /** First reads of text of third parties, by kind of object. */
  readonly readKinds: PairExtremes;
  /** Last actions beyond local work, by kind of object. */
  readonly reachedKinds: PairExtremes;
  /** Kinds of objects and verbs of the actions beyond local work, as bits. */
  reachedNouns: number;
  reachedVerbs: number;
  /** Deletions and payments over time. */
  readonly losses: Instants;
  /** Approvals by people over time. */
  readonly approvals: Instants;
}

/** Creates the state of a session without events. */
export function emptySession(): SessionState {
  return {
    session: 0,
    eventCount: 0,
    marks: sessionMarks.map(emptyTally),
    stamps: stampNames.map(emptyTally),
    acting: new BottomK(kept.tools),
    looking: new BottomK(kept.tools),
    agents: new BottomK(kept.agents),
    recipients: new BottomK(kept.recipients),
    versions: new BottomK(kept.versions),
    actions: new Actions(kept.actions),
    readKinds: new PairExtremes(false),
    reachedKinds: new PairExtremes(true),
    reachedNouns: 0,
    reachedVerbs: 0,
    losses: new Instants(),
    approvals: new Instants(),
  };
}

/** Returns what a session keeps about a tool; undefined if nothing. */
export function keptTool(state: SessionState, hash: number): ToolTally | undefined {
  return state.acting.get(hash) ?? state.looking.get(hash);
}

/**
 * The earliest and the latest times of a kind of event, each up to a limit, for any order of arrival. Up to twice the
 * limit, they are all of them.
 */
export class Instants {
  /** Earliest times, ascending. */
  readonly head: number[];
  /** Latest other times, ascending. */
  readonly tail: number[];
  /** Number of all. */
  total: number;

  constructor(head: number[] = [], tail: number[] = [], total = 0) {
    this.head = head;
    this.tail = tail;
    this.total = total;
  }

  /** Adds a time. */
  add(timestampMs: number): void {
    this.total += 1;
    let moved = timestampMs;
    if (this.head.length < limit) {
      insert(this.head, moved);
      return;
    }
    if (moved < (this.head[limit - 1] as number)) {
      insert(this.head, moved);
      moved = this.head.pop() as number;
    }
    if (this.tail.length === limit && moved <= (this.tail[0] as number)) return;
    insert(this.tail, moved);
    if (this.tail.length > limit) this.tail.shift();
  }

  /**
   * Returns the largest number of events within a span of time. Beyond twice the limit it returns the number of all
   * events: such a session is dense enough for every rule.
   */
  densest(spanMs: number): number {
    if (this.total > limit * 2) return this.total;
    const times = [...this.head, ...this.tail];
    let most = 0;
    let from = 0;
    for (const [at, time] of times.entries()) {
      while (time - (times[from] as number) > spanMs) from += 1;
      most = Math.max(most, at + 1 - from);
    }
    return most;
  }
}

const limit = 12;

function insert(times: number[], time: number): void {
  let at = times.length;
  while (at > 0 && (times[at - 1] as number) > time) at--;
  if (at === times.length) times.push(time);
  else times.splice(at, 0, time);
}
