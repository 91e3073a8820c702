import { pairHash } from '../codec/hash32.ts';
import { ENTRY_KINDS, type LogEntry } from '../session/event-log.ts';
import { MARK_INDEX, OUTCOME_MARKS } from '../session/mark.ts';
import type { SessionState } from '../session/session-state.ts';
import { ACTION_BITS } from '../taxonomy/tag.ts';

/** Summary of a learned session in a baseline. */
export interface PastSession {
  /** Number of calls by hash of the tool. */
  readonly tools: ReadonlyMap<number, number>;
  /** Hashes of the tools that act. */
  readonly actions: ReadonlySet<number>;
  /** 16-bit hashes of pairs of consecutive tools; 0 precedes the first tool. */
  readonly steps: ReadonlySet<number>;
  /** 16-bit hashes of the rules that matched. */
  readonly rules: ReadonlySet<number>;
  /** Tags that were seen, as bits. */
  readonly tags: number;
  readonly acts: number;
  readonly looks: number;
  /** Hour of the first call, in UTC. */
  readonly hour: number;
}

const MAX_STEPS = 24;

/** Returns the 16-bit hash of two consecutive tools. */
export function stepHash(from: number, to: number): number {
  return pairHash(from, to) & 0xffff;
}

const UNAUTHORIZED = OUTCOME_MARKS.indexOf('unauthorized');
const LAST_DEED = ENTRY_KINDS.indexOf('memory');
const APPROVED = ENTRY_KINDS.indexOf('approved');

/**
 * Returns the calls, messages and memory writes of the log, in order, without decisions. A call with a refusal status
 * whose action was denied or held is omitted: it never ran, and well-behaved agents record denials like that.
 */
export function executedSteps(entries: readonly LogEntry[]): LogEntry[] {
  const stopped = new Set<number>();
  for (const { kind, tool, argument } of entries)
    if (kind > LAST_DEED && kind !== APPROVED) stopped.add(tool ^ argument);
  return entries.filter(
    ({ kind, outcome, tool, argument }) =>
      kind <= LAST_DEED && !(outcome === UNAUTHORIZED && stopped.has(tool ^ argument)),
  );
}

/** Summarizes a session for a baseline. */
export function pastSession(state: SessionState, rules: Iterable<number>): PastSession {
  const tools = state.tools.entries().filter(([, tool]) => tool.count > 0);
  const steps = new Set<number>();
  let before = 0;
  for (const entry of executedSteps(state.log.entries())) {
    if (steps.size < MAX_STEPS) steps.add(stepHash(before, entry.tool));
    before = entry.tool;
  }
  const at = Math.min(
    ...[MARK_INDEX.act, MARK_INDEX.look]
      .map((index) => state.marks[index])
      .map((tally) => (tally?.count ? tally.firstMs : Number.MAX_SAFE_INTEGER)),
  );
  return {
    tools: new Map(tools.map(([hash, tool]) => [hash, tool.count])),
    actions: new Set(tools.flatMap(([hash, tool]) => (tool.bits & ACTION_BITS ? [hash] : []))),
    steps,
    rules: new Set(rules),
    tags: tools.reduce((bits, [, tool]) => bits | tool.bits, 0),
    acts: state.marks[MARK_INDEX.act]?.count ?? 0,
    looks: state.marks[MARK_INDEX.look]?.count ?? 0,
    hour: Math.floor(at / 3_600_000) % 24,
  };
}
