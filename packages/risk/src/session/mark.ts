import { TOOL_TAGS } from '../taxonomy/tag.ts';

/** What a server decided on a tool call, as `guardian_decision` events say it. */
export const DECISION_MARKS = [
  'policy_denied',
  'held',
  'approved',
  'refused',
  'lapsed',
  'approved_fast',
] as const;

/** How calls ended. */
export const OUTCOME_MARKS = [
  'answered',
  'unauthorized',
  'throttled',
  'client_error',
  'server_error',
  'unanswered',
] as const;

/** Outcome of an approval that came faster than anybody reads. No call ends so, and no tally is kept of it. */
export const UNREAD = OUTCOME_MARKS.length;

/** Kinds of events that have no tool, and the sum of the kinds that act or look. */
export const KIND_MARKS = ['call', 'message', 'memory', 'llm', 'act', 'look'] as const;

/** Everything a session keeps a tally of. The order is part of the stored form: add at the end. */
export const MARKS = [...TOOL_TAGS, ...DECISION_MARKS, ...OUTCOME_MARKS, ...KIND_MARKS] as const;

/** One of {@link MARKS}. */
export type Mark = (typeof MARKS)[number];

/** Index of each mark. */
export const MARK_INDEX = Object.fromEntries(MARKS.map((mark, index) => [mark, index])) as Readonly<
  Record<Mark, number>
>;

/** Marks below this index keep the id of their first event; what counts only does not. */
export const MARKS_WITH_ID = TOOL_TAGS.length + DECISION_MARKS.length;

/** Tally of one kind of event: how many, and where the first and the last are. */
export interface Tally {
  count: number;
  firstMs: number;
  /** Id of the first event, of several at the same time the smallest; empty where the tally keeps no id. */
  firstId: string;
  lastMs: number;
}

/** A tally of nothing. */
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
