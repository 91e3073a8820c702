import { type Mark, sessionMarkIndex } from '../session/mark.ts';
import type { SessionState } from '../session/session-state.ts';

/** Summary of a learned session in a baseline. */
export interface PastSession {
  /** Number of calls by hash of the tool. */
  readonly tools: ReadonlyMap<number, number>;
  /** Hashes of the tools that act. */
  readonly actions: ReadonlySet<number>;
  /** 16-bit hashes of the rules that matched. */
  readonly rules: ReadonlySet<number>;
  /** Tags that were seen, as bits. */
  readonly tags: number;
  readonly acts: number;
  readonly looks: number;
  /** Hour of the first call, in UTC. */
  readonly hour: number;
}

/** Marks of actions that foreign text aimed: a session with one is never learned automatically. */
const foreign: readonly Mark[] = [
  'aimed',
  'redirected',
  'private_sent',
  'leaked',
  'secret_passed',
  'shell_copied',
  'file_copied',
];

/** `true` if a session contains an action that third-party text aimed. */
export function hasForeignAct({ marks }: SessionState): boolean {
  return foreign.some((mark) => (marks[sessionMarkIndex[mark]]?.count ?? 0) > 0);
}

/** Returns the hour of the first call, in UTC; NaN without a call. */
export function startHour({ marks }: SessionState): number {
  let at = Number.NaN;
  for (const mark of ['act', 'look'] as const) {
    const tally = marks[sessionMarkIndex[mark]];
    if (tally?.count && !(tally.firstMs >= at)) at = tally.firstMs;
  }
  return Math.floor(at / 3_600_000) % 24;
}

/** Summarizes a session for a baseline. */
export function pastSession(state: SessionState, rules: Iterable<number>): PastSession {
  const acting = state.acting.entries().filter(([, tool]) => tool.count > 0);
  const tools = [...acting, ...state.looking.entries().filter(([, tool]) => tool.count > 0)];
  return {
    tools: new Map(tools.map(([hash, tool]) => [hash, tool.count])),
    actions: new Set(acting.map(([hash]) => hash)),
    rules: new Set(rules),
    tags: tools.reduce((bits, [, tool]) => bits | tool.bits, 0),
    acts: state.marks[sessionMarkIndex.act]?.count ?? 0,
    looks: state.marks[sessionMarkIndex.look]?.count ?? 0,
    hour: startHour(state) || 0,
  };
}
