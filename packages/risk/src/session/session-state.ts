import { STAMP_NAMES } from '../stamp-name.ts';
import { BottomK } from './bottom-k.ts';
import { EventLog } from './event-log.ts';
import { emptyTally, MARKS, type Tally } from './mark.ts';
import { RepeatSketch } from './repeat-sketch.ts';
import { TimeHistogram } from './time-histogram.ts';

/** What a session keeps of one tool. */
export interface ToolTally {
  /** The name, cut to a few bytes, for explanations. */
  name: string;
  readonly bits: number;
  readonly verb: number;
  readonly noun: number;
  count: number;
}

/** What a session keeps of one agent that took part. */
export interface AgentTally {
  count: number;
  failures: number;
}

/** What a session keeps of one schemaVersion. */
export interface VersionTally {
  version: string;
  firstMs: number;
  lastMs: number;
}

/** How many tools, agents, recipients and schema versions a session keeps. */
export const KEPT = { tools: 16, agents: 6, recipients: 12, versions: 3 } as const;

/**
 * All that scoring needs of a session's events, in a few kilobytes at any number of events. It depends on the set
 * of events and their contexts alone, never on the order in which they came.
 */
export interface SessionState {
  /** Hash of the sessionId; 0 before the first event. */
  session: number;
  eventCount: number;
  /** By `MARK_INDEX`. */
  readonly marks: readonly Tally[];
  /** By `STAMP_INDEX`. */
  readonly stamps: readonly Tally[];
  readonly tools: BottomK<ToolTally>;
  readonly agents: BottomK<AgentTally>;
  readonly recipients: BottomK<true>;
  readonly versions: BottomK<VersionTally>;
  readonly log: EventLog;
  readonly repeats: RepeatSketch;
  /** All calls in time. */
  readonly calls: TimeHistogram;
  /** Calls that delete or pay, in time. */
  readonly losses: TimeHistogram;
  /** Approvals by people, in time. */
  readonly approvals: TimeHistogram;
}

/** The state of a session without events. */
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
