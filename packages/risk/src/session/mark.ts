import { toolTags } from '../taxonomy/tag.ts';

/** Decisions of a server about a tool call, as recorded by `guardian_decision` events. */
export const decisionMarks = [
  'policy_denied',
  'held',
  'approved',
  'refused',
  'lapsed',
  'approved_fast',
] as const;

/** Outcomes of calls. */
export const outcomeMarks = [
  'answered',
  'unauthorized',
  'throttled',
  'client_error',
  'server_error',
  'unanswered',
] as const;

/** Outcome of an approval that was faster than reading. No call ends with it, and it has no tally. */
export const unread = outcomeMarks.length;

/** Kinds of events without a tool, and the sums of the kinds that act or look. */
export const kindMarks = ['call', 'message', 'memory', 'llm', 'act', 'look'] as const;

/**
 * Kinds of steps that rules relate to each other. Reads count only if they returned something, actions only if they were
 * not refused for missing permissions.
 *
 * - `outside`: text came in that was written outside the workspace: a web page, a mail, an issue, a calendar entry.
 * - `opened_web`, `read_memory`: a web page was opened, a memory was read.
 * - `failed_look`: a read failed.
 * - `reach`: an action reached beyond local work: it was outgoing, destructive, or changed a shared record.
 * - `outgoing`, `final`, `opened_up`, `rights`: it sent, paid or granted something; is hard to undo; published or
 *   shared something; used a secret or a permission.
 * - `stored`: a file or a package was stored.
 * - `loss`: something was deleted or paid.
 */
export const stepMarks = [
  'outside',
  'opened_web',
  'read_memory',
  'failed_look',
  'reach',
  'outgoing',
  'final',
  'opened_up',
  'rights',
  'stored',
  'loss',
] as const;

/**
 * Kinds of calls by the origins of their arguments.
 *
 * - `origins`: any were reported.
 * - `knows_user`: the recorder knows the user's messages.
 * - `user_named`: an argument of an action came from the user.
 * - `aimed`: an action beyond local work was aimed by text, and none of its arguments came from the user.
 * - `redirected`: its destination came from text, other arguments from the user.
 * - `partly`: another target came from text, other arguments from the user.
 * - `field_only`: its destination was a field of a result, and no argument came from the user.
 * - `private_sent`: it sent private results to a destination from text.
 * - `leaked`: an address was opened whose host came from text and whose rest came from private results.
 * - `secret_passed`: an argument came from a tool for secrets.
 * - `shell_copied`: a command was copied from text that was written outside the workspace.
 * - `shell_host`: a command names a host that came from any text.
 * - `file_copied`: a file got content that names a host from outside text.
 * - `file_named`: the name of a file that was written came from outside text.
 * - `user_reach`: an action beyond local work had an argument of the user.
 * - `sent_aimed`: an outgoing action or its destination was aimed by text.
 */
export const originMarks = [
  'origins',
  'knows_user',
  'user_named',
  'aimed',
  'redirected',
  'partly',
  'field_only',
  'private_sent',
  'leaked',
  'secret_passed',
  'shell_copied',
  'shell_host',
  'file_copied',
  'file_named',
  'sent_aimed',
  'user_reach',
] as const;

/** Everything that a session tallies. The order is part of the stored format: append only. */
export const sessionMarks = [
  ...toolTags,
  ...decisionMarks,
  ...kindMarks,
  ...stepMarks,
  ...originMarks,
  ...outcomeMarks,
] as const;

/** One of {@link sessionMarks}. */
export type Mark = (typeof sessionMarks)[number];

/** Index of each mark. */
export const sessionMarkIndex = Object.fromEntries(
  sessionMarks.map((mark, index) => [mark, index]),
) as Readonly<Record<Mark, number>>;

/** `true` if one event comes before another one. */
export function isBefore(aMs: number, aId: string, bMs: number, bId: string): boolean {
  return aMs < bMs || (aMs === bMs && aId < bId);
}

/**
 * Tally of one kind of event: the count, and the first and the last event with their tools. It depends only on the set of
 * events, and "the first of one kind comes before the last of another" can only become true by further events.
 */
export interface Tally {
  count: number;
  firstMs: number;
  firstId: string;
  /** Hash of the tool of the first event; 0 if it has none. */
  firstTool: number;
  lastMs: number;
  lastId: string;
  lastTool: number;
  /** `true` if the events are of more than one tool. */
  isMixed: boolean;
}

/** Creates an empty tally. */
export function emptyTally(): Tally {
  return {
    count: 0,
    firstMs: 0,
    firstId: '',
    firstTool: 0,
    lastMs: 0,
    lastId: '',
    lastTool: 0,
    isMixed: false,
  };
}

/**
 * Counts one event. Several events may speak of one call, each with another tool: of these the smallest hash is the first
 * and the largest the last.
 */
export function count(tally: Tally, timestampMs: number, eventId: string, tool = 0): void {
  if (tally.count > 0 && tool !== tally.firstTool) tally.isMixed = true;
  if (
    tally.count === 0 ||
    isBefore(timestampMs, eventId, tally.firstMs, tally.firstId) ||
    (timestampMs === tally.firstMs && eventId === tally.firstId && tool < tally.firstTool)
  ) {
    tally.firstMs = timestampMs;
    tally.firstId = eventId;
    tally.firstTool = tool;
  }
  if (
    tally.count === 0 ||
    isBefore(tally.lastMs, tally.lastId, timestampMs, eventId) ||
    (timestampMs === tally.lastMs && eventId === tally.lastId && tool > tally.lastTool)
  ) {
    tally.lastMs = timestampMs;
    tally.lastId = eventId;
    tally.lastTool = tool;
  }
  tally.count += 1;
}

/** `true` if an event of one kind comes before an event of another. */
export function precedes(one: Tally, other: Tally): boolean {
  return one.count > 0 && other.count > 0 && isBefore(one.firstMs, one.firstId, other.lastMs, other.lastId);
}
