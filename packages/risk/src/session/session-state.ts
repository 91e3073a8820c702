import { stampNames } from '../stamp-name.ts';
import { Actions } from './actions.ts';
import { BottomK } from './bottom-k.ts';
import { Instants } from './instants.ts';
import { emptyTally, sessionMarks, type Tally } from './mark.ts';
import { PairExtremes } from './pair-extremes.ts';

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
