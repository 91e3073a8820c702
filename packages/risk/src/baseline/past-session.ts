import { pairHash } from '../codec/hash32.ts';
import { ENTRY_KINDS, type LogEntry } from '../session/event-log.ts';
import { MARK_INDEX, OUTCOME_MARKS } from '../session/mark.ts';
import type { SessionState } from '../session/session-state.ts';
import { ACTION_BITS } from '../taxonomy/tag.ts';

/** What a baseline keeps of one session that it learned. */
export interface PastSession {
  /** Calls by hash of the tool. */
  readonly tools: ReadonlyMap<number, number>;
  /** Hashes of the tools among them that act. */
  readonly actions: ReadonlySet<number>;
  /** 16-bit hashes of two tools called one after the other; 0 stands before the first. */
  readonly steps: ReadonlySet<number>;
  /** 16-bit hashes of the rules that matched. */
  readonly rules: ReadonlySet<number>;
  /** Tags that were seen, as bits. */
  readonly tags: number;
  readonly acts: number;
  readonly looks: number;
  /** Hour of the day, UTC, of the first call. */
  readonly hour: number;
}

const MAX_STEPS = 24;

/** 16-bit hash of two tools called one after the other. */
export function stepHash(from: number, to: number): number {
  return pairHash(from, to) & 0xffff;
}

const UNAUTHORIZED = OUTCOME_MARKS.indexOf('unauthorized');
const LAST_DEED = ENTRY_KINDS.indexOf('memory');
const APPROVED = ENTRY_KINDS.indexOf('approved');

/**
 * The log's calls, messages and memory writes, in order: what was done, without what was decided. A call that is
 * answered as refused, and whose very action was denied or held, never ran: it is how an agent that obeys records
 * the denial.
 */
export function doings(entries: readonly LogEntry[]): LogEntry[] {
  const stopped = new Set<number>();
  for (const { kind, tool, argument } of entries)
    if (kind > LAST_DEED && kind !== APPROVED) stopped.add(tool ^ argument);
  return entries.filter(
    ({ kind, outcome, tool, argument }) =>
      kind <= LAST_DEED && !(outcome === UNAUTHORIZED && stopped.has(tool ^ argument)),
  );
}

/** Reduces a session to what a baseline keeps. */
export function pastSession(state: SessionState, rules: Iterable<number>): PastSession {
  const tools = state.tools.entries().filter(([, tool]) => tool.count > 0);
  const steps = new Set<number>();
  let before = 0;
  for (const entry of doings(state.log.entries())) {
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
