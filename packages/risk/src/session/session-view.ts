import type { Baseline } from '../baseline/baseline.ts';
import { type Expectation, expectationFor } from '../baseline/expectation.ts';
import { executedSteps } from '../baseline/past-session.ts';
import { STAMP_INDEX, type StampName } from '../stamp-name.ts';
import { ACTION_BITS, tagBits } from '../taxonomy/tag.ts';
import { ENTRY_KINDS, type LogEntry } from './event-log.ts';
import { MARK_INDEX, type Mark, OUTCOME_MARKS, type Tally } from './mark.ts';
import { ORIGIN, shortEventId, shortIdOf } from './origin-note.ts';
import type { SessionState, ToolTally } from './session-state.ts';

const UNTRUSTED = tagBits('ingest_untrusted');
const STOPS = (['policy_denied', 'held'] as const).map((kind) => ENTRY_KINDS.indexOf(kind));
const UNAUTHORIZED = OUTCOME_MARKS.indexOf('unauthorized');

/** A call, a message or a memory write in the session's log. */
export interface Step extends LogEntry {
  /** Position in the log. */
  readonly at: number;
  /** `true` if the log does not contain the preceding event. */
  readonly followsGap: boolean;
  /** `true` if it changes something instead of reading. */
  readonly acts: boolean;
  /** `true` if untrusted content was read before it. */
  readonly afterUntrusted: boolean;
  /** Origins of its arguments as bits of `ORIGIN`; 0 if none were reported. */
  readonly origins: number;
}

/** View of a session's state that is prepared once for all rules. */
export interface SessionView {
  readonly state: SessionState;
  /** Executed steps in order: all of a short session, both ends of a long one. */
  readonly steps: readonly Step[];
  /** Steps that act. */
  readonly acts: readonly Step[];
  /**
   * Number of calls that never ran because a policy or a person stopped them. Outside the log, refused calls
   * are counted
   * up to the number of stopped actions.
   */
  readonly withheld: number;
  /** Decisions in order. */
  readonly decisions: readonly LogEntry[];
  /** All log entries in order. */
  readonly entries: readonly LogEntry[];
  /** Called tools, by ascending hash. */
  readonly tools: readonly (readonly [number, ToolTally])[];
  /** `true` if an argument of a call came from the user or the developer: their texts are known to the recorder. */
  readonly knowsUser: boolean;
  /** Expectation from past sessions; undefined if there are none. */
  readonly expected: Expectation | undefined;
}

/** Returns the tally of a mark. */
export function tallyOf(view: SessionView, mark: Mark): Tally {
  return view.state.marks[MARK_INDEX[mark]] as Tally;
}

/** Returns the tally of a stamp. */
export function stampTallyOf(view: SessionView, stamp: StampName): Tally {
  return view.state.stamps[STAMP_INDEX[stamp]] as Tally;
}

/** Returns a tool's name in quotes for an explanation; "a tool" if the session did not keep it. */
export function toolName(view: SessionView, hash: number): string {
  const name = view.state.tools.get(hash)?.name;
  return name ? `"${name}"` : 'a tool';
}

/** Returns the preceding step; undefined for the first one or if the log does not contain it. */
export function stepBefore(view: SessionView, step: Step): Step | undefined {
  return step.followsGap ? undefined : view.steps[step.at - 1];
}

function withheldUnseen({ log, marks }: SessionState, entries: readonly LogEntry[]): number {
  if (log.complete) return 0;
  const all = (mark: Mark) => marks[MARK_INDEX[mark]]?.count ?? 0;
  const stops = entries.filter(({ kind }) => STOPS.includes(kind)).length;
  const refusals = entries.filter(({ outcome }) => outcome === UNAUTHORIZED).length;
  return Math.min(all('policy_denied') + all('held') - stops, all('unauthorized') - refusals);
}

/** Prepares a session for the rules. */
export function viewOf(state: SessionState, baseline?: Baseline): SessionView {
  const entries = state.log.entries();
  const decisions = entries.filter((entry) => entry.kind > 2);
  const tools = state.tools.entries().filter(([, tool]) => tool.count > 0);
  const looks = new Set(tools.flatMap(([hash, tool]) => (tool.bits & ACTION_BITS ? [] : [hash])));
  const tail = new Set(state.log.complete ? [] : state.log.tail);
  let untrusted = false;
  let isPastGap = false;
  const done = executedSteps(entries);
  const notes = new Map<string, number>();
  let allOrigins = 0;
  for (const note of state.origins.entries()) {
    notes.set(shortIdOf(note), (notes.get(shortIdOf(note)) ?? 0) | note.bits);
    allOrigins |= note.bits;
  }
  const steps = done.map((entry, at): Step => {
    const { timestampMs, eventId, tool, argument, bits, verb, noun, kind, outcome, stamp } = entry;
    const acts = (bits & ACTION_BITS) !== 0;
    const followsGap = !isPastGap && tail.has(entry);
    if (followsGap) isPastGap = true;
    const step = {
      timestampMs,
      eventId,
      tool,
      argument,
      bits,
      verb,
      noun,
      kind,
      outcome,
      stamp,
      at,
      followsGap,
      acts,
      afterUntrusted: untrusted,
      origins: notes.size === 0 ? 0 : (notes.get(shortEventId(eventId)) ?? 0),
    };
    if (entry.bits & UNTRUSTED) untrusted = true;
    return step;
  });
  return {
    state,
    steps,
    acts: steps.filter((step) => step.acts),
    withheld: entries.length - decisions.length - done.length + withheldUnseen(state, entries),
    decisions,
    entries,
    tools,
    knowsUser: (allOrigins & (ORIGIN.targetFromUser | ORIGIN.contentFromUser)) !== 0,
    expected: expectationFor(baseline, looks),
  };
}
