import { onTestFinished } from 'vitest';

const ends: (() => Promise<void>)[] = [];

/** Runs `work` after the current test, in reverse order of registration. */
export function atTestEnd(work: () => Promise<void>): void {
  if (ends.length === 0) onTestFinished(endAll);
  ends.push(work);
}

async function endAll(): Promise<void> {
  for (let work = ends.pop(); work; work = ends.pop()) await work();
}
