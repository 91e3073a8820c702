import { STAMP_NAMES } from '../stamp-name.ts';
import { BottomK } from './bottom-k.ts';
import { EventLog } from './event-log.ts';
import { emptyTally, MARKS, type Tally } from './mark.ts';
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

/** Maximum numbers of tools, agents, recipients and schema versions that a session keeps. */
export const KEPT = { tools: 16, agents: 6, recipients: 12, versions: 3 } as const;

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
    repeats: new RepeatSketch(),
    calls: new TimeHistogram(),
    losses: new TimeHistogram(),
    approvals: new TimeHistogram(),
  };
}
