import type { Baseline } from './baseline/baseline.ts';
import { type Expectation, expectationFor } from './baseline/expectation.ts';
import { doings } from './baseline/past-session.ts';
import { ENTRY_KINDS, type LogEntry } from './session/event-log.ts';
import { MARK_INDEX, type Mark, OUTCOME_MARKS, type Tally } from './session/mark.ts';
import type { SessionState, ToolTally } from './session/session-state.ts';
import { STAMP_INDEX, type StampName } from './stamp-name.ts';
import { ACTION_BITS, tagBits } from './taxonomy/tag.ts';

const UNTRUSTED = tagBits('ingest_untrusted');
const STOPS = (['policy_denied', 'held'] as const).map((kind) => ENTRY_KINDS.indexOf(kind));
const UNAUTHORIZED = OUTCOME_MARKS.indexOf('unauthorized');

/** A call, a message or a memory write in the session's log. */
export interface Step extends LogEntry {
  /** Place in the log. */
  readonly at: number;
  /** Whether the log does not keep what came just before it. */
  readonly followsGap: boolean;
  /** Whether it changes the world rather than looks at it. */
  readonly acts: boolean;
  /** Whether text of unknown authors had come in before it. */
  readonly afterUntrusted: boolean;
}

/** What rules read: a session's state, prepared once for all of them. */
export interface SessionView {
  readonly state: SessionState;
  /** What was done, in order: all of a short session, both ends of a long one. */
  readonly steps: readonly Step[];
  /** The steps that act. */
  readonly acts: readonly Step[];
  /**
   * Calls that never ran, as a policy or a person had stopped them. Of those that the log does not hold, as many
   * refused ones as there were actions stopped.
   */
  readonly withheld: number;
  /** What was decided, in order. */
  readonly decisions: readonly LogEntry[];
  /** All of the log, in order. */
  readonly entries: readonly LogEntry[];
  /** The tools that were called, by ascending hash. */
  readonly tools: readonly (readonly [number, ToolTally])[];
  /** What past sessions lead to expect; undefined where there are none. */
  readonly expected: Expectation | undefined;
}

/** The tally of a mark. */
export function tallyOf(view: SessionView, mark: Mark): Tally {
  return view.state.marks[MARK_INDEX[mark]] as Tally;
}

/** The tally of a stamp. */
export function stampTallyOf(view: SessionView, stamp: StampName): Tally {
  return view.state.stamps[STAMP_INDEX[stamp]] as Tally;
}

/** A tool's name for an explanation, in quotes; "a tool" where the session does not keep it. */
export function toolName(view: SessionView, hash: number): string {
  const name = view.state.tools.get(hash)?.name;
  return name ? `"${name}"` : 'a tool';
}

/** The step just before; undefined for the first one, and where the log does not keep it. */
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
  const done = doings(entries);
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
    expected: expectationFor(baseline, looks),
  };
}
