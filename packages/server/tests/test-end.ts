import { onTestFinished } from 'vitest';

const ends: (() => Promise<void>)[] = [];

/** Does `work` when the running test has ended, the last that was asked for first. */
export function atTestEnd(work: () => Promise<void>): void {
  if (ends.length === 0) onTestFinished(endAll);
  ends.push(work);
}

async function endAll(): Promise<void> {
  for (let work = ends.pop(); work; work = ends.pop()) await work();
}
