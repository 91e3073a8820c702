import type { Baseline } from './baseline.ts';
import type { PastSession } from './past-session.ts';

/** How many past sessions it takes to rely on what they have in common. */
export const FULL_CONFIDENCE_SESSIONS = 3;
const NEAREST = 5;

/** What past sessions like the one at hand looked like. */
export interface Expectation {
  /** Past sessions that the expectation rests on. */
  readonly near: readonly PastSession[];
  /** All past sessions that the baseline keeps. */
  readonly all: readonly PastSession[];
  /** From 0 (nothing learned) to 1 (three sessions or more). */
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
 * The past sessions that read most like the given one. An agent may have several workflows; what it reads tells which
 * one this is, and what it does is then held against that one alone.
 *
 * @param looks Hashes of the tools by which the session reads.
 */
export function expectationFor(
  baseline: Baseline | undefined,
  looks: ReadonlySet<number>,
): Expectation | undefined {
  const all = baseline?.sessions.entries().map(([, { past }]) => past) ?? [];
  if (all.length === 0) return undefined;
  const near =
    all.length <= NEAREST
      ? all
      : all
          .map((past, index) => ({ past, index, likeness: likeness(looks, past) }))
          .sort((a, b) => b.likeness - a.likeness || a.index - b.index)
          .slice(0, NEAREST)
          .map(({ past }) => past);
  return { near, all, confidence: Math.min(1, near.length / FULL_CONFIDENCE_SESSIONS) ** 2 };
}

/** Share of the near sessions for which the test holds, 0 to 1. */
export function shareOf(expectation: Expectation, test: (past: PastSession) => boolean): number {
  let count = 0;
  for (const past of expectation.near) if (test(past)) count += 1;
  return count / expectation.near.length;
}

/** Largest value that a near session has. */
export function mostOf({ near }: Expectation, measure: (past: PastSession) => number): number {
  let most = 0;
  for (const past of near) most = Math.max(most, measure(past));
  return most;
}
