import { type Baseline, type Expectation, expectationFor } from '../baseline/baseline.ts';
import { type StampName, stampIndex } from '../risk-event.ts';
import { actionBits } from '../taxonomy/tag.ts';
import type { ActionRecord } from './actions.ts';
import { isBefore, type Mark, precedes, sessionMarkIndex, type Tally } from './mark.ts';
import { keptTool, type SessionState, type ToolTally } from './session-state.ts';

/** An event that a rule names. */
export interface NamedEvent {
  readonly eventId: string;
  /** Hash of its tool; 0 if it has none. */
  readonly tool: number;
}

/** View of a session's state that is prepared once for all rules. */
export interface SessionView {
  readonly state: SessionState;
  /** Kept tools that were called, with their hashes: those that act first. */
  readonly tools: readonly (readonly [number, ToolTally])[];
  /** Kept actions. */
  readonly actions: readonly ActionRecord[];
  /** Number of calls that never ran because a policy or a person stopped them: refused calls, one for each stop. */
  readonly withheld: number;
  /** Expectation from the agent's past; undefined if there are no past sessions. */
  readonly expected: Expectation | undefined;
}

/** Returns the tally of a mark. */
export function tallyOf(view: SessionView, mark: Mark): Tally {
  return view.state.marks[sessionMarkIndex[mark]] as Tally;
}

/** Returns the tally of a stamp. */
export function stampTallyOf(view: SessionView, stamp: StampName): Tally {
  return view.state.stamps[stampIndex[stamp]] as Tally;
}

/** Returns a tool's name in quotes for an explanation; "a tool" if the session did not keep it. */
export function toolName(view: SessionView, hash: number): string {
  const name = keptTool(view.state, hash)?.name;
  return name ? `"${name}"` : 'a tool';
}

/** Returns the first event of a kind. */
export function firstOf({ firstId, firstTool }: Tally): NamedEvent {
  return { eventId: firstId, tool: firstTool };
}

/** Returns the last event of a kind. */
export function lastOf({ lastId, lastTool }: Tally): NamedEvent {
  return { eventId: lastId, tool: lastTool };
}

/**
 * Returns the first event of one kind and a later event of another, which is its first if that is later, otherwise its
 * last; undefined if none is later.
 */
export function sequence(
  view: SessionView,
  cause: Mark,
  effect: Mark,
): readonly [NamedEvent, NamedEvent] | undefined {
  const [one, other] = [tallyOf(view, cause), tallyOf(view, effect)];
  if (!precedes(one, other)) return undefined;
  const isFirst = isBefore(one.firstMs, one.firstId, other.firstMs, other.firstId);
  return [firstOf(one), isFirst ? firstOf(other) : lastOf(other)];
}

/** Prepares a session for the rules. */
export function viewOf(state: SessionState, baseline?: Baseline): SessionView {
  const called = (entries: readonly (readonly [number, ToolTally])[]) =>
    entries.filter(([, tool]) => tool.count > 0);
  const looking = called(state.looking.entries());
  const tools = [...called(state.acting.entries()), ...looking];
  const actions = state.actions.entries().map(([, record]) => record);
  const looks = new Set(tools.flatMap(([hash, tool]) => (tool.bits & actionBits ? [] : [hash])));
  const [denied, held, refused] = (['policy_denied', 'held', 'unauthorized'] as const).map(
    (mark) => (state.marks[sessionMarkIndex[mark]] as Tally).count,
  ) as [number, number, number];
  const withheld = Math.min(denied + held, refused);
  return { state, tools, actions, withheld, expected: expectationFor(baseline, looks) };
}
