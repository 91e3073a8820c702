import { STAMP_NAMES } from '../stamp-name.ts';
import { BottomK } from './bottom-k.ts';
import { EventLog } from './event-log.ts';
import { emptyTally, MARKS, type Tally } from './mark.ts';
import type { OriginNote } from './origin-note.ts';
import { RepeatSketch } from './repeat-sketch.ts';
import { TimeHistogram } from './time-histogram.ts';

/** Data that a session keeps about one tool. */
export interface ToolTally {
  /** Truncated name, for explanations. */
  name: string;
  readonly bits: number;
  readonly verb: number;
  readonly noun: number;
  count: number;
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

/** Maximum numbers of tools, agents, recipients, schema versions and last origins that a session keeps. */
export const KEPT = { tools: 16, agents: 6, recipients: 12, versions: 3, lastOrigins: 4 } as const;

/**
 * State of a session for scoring, a few kilobytes for any number of events. It depends only on the set of events and
 * their contexts, not on their order.
 */
export interface SessionState {
  /** Hash of the sessionId; 0 before the first event. */
  session: number;
  eventCount: number;
  /** Tallies by `MARK_INDEX`. */
  readonly marks: readonly Tally[];
  /** Tallies by `STAMP_INDEX`. */
  readonly stamps: readonly Tally[];
  readonly tools: BottomK<ToolTally>;
  readonly agents: BottomK<AgentTally>;
  readonly recipients: BottomK<true>;
  readonly versions: BottomK<VersionTally>;
  readonly log: EventLog;
  /** Origins of arguments of the first 18 and the last 4 calls with any; empty if the recorder does not report them. */
  readonly origins: EventLog<OriginNote>;
  /** Number and first of the actions that a tool's text aimed, with no argument of the user. */
  readonly foreignActs: Tally;
  readonly repeats: RepeatSketch;
  /** All calls over time. */
  readonly calls: TimeHistogram;
  /** Deletions and payments over time. */
  readonly losses: TimeHistogram;
  /** Approvals by people over time. */
  readonly approvals: TimeHistogram;
}

/** Creates the state of a session without events. */
export function emptySession(): SessionState {
  return {
    session: 0,
    eventCount: 0,
    marks: MARKS.map(emptyTally),
    stamps: STAMP_NAMES.map(emptyTally),
    tools: new BottomK(KEPT.tools),
    agents: new BottomK(KEPT.agents),
    recipients: new BottomK(KEPT.recipients),
    versions: new BottomK(KEPT.versions),
    log: new EventLog(),
    origins: new EventLog<OriginNote>([], [], 0, KEPT.lastOrigins),
    foreignActs: emptyTally(),
    repeats: new RepeatSketch(),
    calls: new TimeHistogram(),
    losses: new TimeHistogram(),
    approvals: new TimeHistogram(),
  };
}
