import { onTestFinished } from 'vitest';
import { afterTestFile } from '../../../scripts/test-setup.ts';

const ends: (() => Promise<void>)[] = [];

/** Runs `work` after the current test, in reverse order of registration. */
export function atTestEnd(work: () => Promise<void>): void {
  if (ends.length === 0) onTestFinished(() => endAll(ends));
  ends.push(work);
}

const fileEnds: (() => Promise<void>)[] = [];

/** Runs `work` after the last test of the current file, in reverse order of registration. */
export function atFileEnd(work: () => Promise<void>): void {
  if (fileEnds.length === 0) afterTestFile(() => endAll(fileEnds));
  fileEnds.push(work);
}

async function endAll(works: (() => Promise<void>)[]): Promise<void> {
  for (let work = works.pop(); work; work = works.pop()) await work();
}
