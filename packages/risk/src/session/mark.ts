import { TOOL_TAGS } from '../taxonomy/tag.ts';

/** Decisions of a server about a tool call, as recorded by `guardian_decision` events. */
export const DECISION_MARKS = [
  'policy_denied',
  'held',
  'approved',
  'refused',
  'lapsed',
  'approved_fast',
] as const;

/** Outcomes of calls. */
export const OUTCOME_MARKS = [
  'answered',
  'unauthorized',
  'throttled',
  'client_error',
  'server_error',
  'unanswered',
] as const;

/** Outcome of an approval that was faster than reading. No call ends with it, and it has no tally. */
export const UNREAD = OUTCOME_MARKS.length;

/** Kinds of events without a tool, and the sums of the kinds that act or look. */
export const KIND_MARKS = ['call', 'message', 'memory', 'llm', 'act', 'look'] as const;

/** Everything that a session tallies. The order is part of the stored format: append only. */
export const MARKS = [...TOOL_TAGS, ...DECISION_MARKS, ...OUTCOME_MARKS, ...KIND_MARKS] as const;

/** One of {@link MARKS}. */
export type Mark = (typeof MARKS)[number];

/** Index of each mark. */
export const MARK_INDEX = Object.fromEntries(MARKS.map((mark, index) => [mark, index])) as Readonly<
  Record<Mark, number>
>;

/** Marks below this index keep the id of their first event; plain counters do not. */
export const MARKS_WITH_ID = TOOL_TAGS.length + DECISION_MARKS.length;

/** Tally of one kind of event: the count and the times of the first and last event. */
export interface Tally {
  count: number;
  firstMs: number;
  /** Id of the first event (the smallest one at the same time); empty if the tally keeps no id. */
  firstId: string;
  lastMs: number;
}

/** Creates an empty tally. */
export function emptyTally(): Tally {
  return { count: 0, firstMs: 0, firstId: '', lastMs: 0 };
}

/** Counts one event. */
export function count(tally: Tally, timestampMs: number, eventId: string): void {
  if (tally.count === 0) {
    tally.firstMs = timestampMs;
    tally.firstId = eventId;
    tally.lastMs = timestampMs;
  } else {
    if (timestampMs < tally.firstMs || (timestampMs === tally.firstMs && eventId < tally.firstId)) {
      tally.firstMs = timestampMs;
      tally.firstId = eventId;
    }
    if (timestampMs > tally.lastMs) tally.lastMs = timestampMs;
  }
  tally.count += 1;
}
