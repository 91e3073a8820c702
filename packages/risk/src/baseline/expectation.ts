import type { Baseline } from './baseline.ts';
import type { PastSession } from './past-session.ts';

/** Number of past sessions from which an expectation has full confidence. */
export const fullConfidenceSessions = 3;
const nearest = 5;

/** Expectation for a session, derived from similar past sessions. */
export interface Expectation {
  /** Past sessions that the expectation is based on. */
  readonly near: readonly PastSession[];
  /** All past sessions of the baseline. */
  readonly all: readonly PastSession[];
  /** Confidence from 0 (nothing learned) to 1 (three or more sessions). */
  readonly confidence: number;
}

function likeness(looks: ReadonlySet<number>, past: PastSession): number {
  let shared = 0;
  let theirs = 0;
  for (const tool of past.tools.keys()) {
    if (past.actions.has(tool)) continue;
    theirs += 1;
    if (looks.has(tool)) shared += 1;
  }
  const all = looks.size + theirs - shared;
  return all === 0 ? 1 : shared / all;
}

/**
 * Selects the past sessions whose reads are most similar to the given ones. An agent may have several workflows: the
 * reads identify the workflow, and the actions are then compared with that workflow only.
 *
 * @param looks Hashes of the tools that the session reads with.
 */
export function expectationFor(
  baseline: Baseline | undefined,
  looks: ReadonlySet<number>,
): Expectation | undefined {
  const all = baseline?.sessions.entries().map(([, { past }]) => past) ?? [];
  if (all.length === 0) return undefined;
  const near =
    all.length <= nearest
      ? all
      : all
          .map((past, index) => ({ past, index, likeness: likeness(looks, past) }))
          .sort((a, b) => b.likeness - a.likeness || a.index - b.index)
          .slice(0, nearest)
          .map(({ past }) => past);
  return { near, all, confidence: Math.min(1, near.length / fullConfidenceSessions) ** 2 };
}

/** Returns the share of the near sessions that pass the test, 0 to 1. */
export function shareOf(expectation: Expectation, test: (past: PastSession) => boolean): number {
  let count = 0;
  for (const past of expectation.near) if (test(past)) count += 1;
  return count / expectation.near.length;
}

/** Returns the largest value among the near sessions. */
export function mostOf({ near }: Expectation, measure: (past: PastSession) => number): number {
  let most = 0;
  for (const past of near) most = Math.max(most, measure(past));
  return most;
}
