import { afterAll, afterEach, vi } from 'vitest';

/** Default time limit of `vi.waitFor` in milliseconds, the same as that of `expect.poll`, for slow and busy machines. */
const timeout = 20_000;

// Files of one worker share `vi`, so only the first one changes it.
const changed = Symbol.for('actlog.waitFor');
if (!(changed in vi)) {
  const { waitFor } = vi;
  const waitForLonger: typeof waitFor = (callback, options) =>
    waitFor(callback, typeof options === 'number' ? options : { timeout, ...options });
  Object.assign(vi, { waitFor: waitForLonger, [changed]: true });
}

afterEach(({ task }) => {
  const { retryCount = 0, state } = task.result ?? {};
  if (retryCount > 0) console.error(`Second try of "${task.name}": ${state}.`);
});

// This module is evaluated for each file, and a module that imports it only once.
const ends = Symbol.for('actlog.fileEnds');
const worker = globalThis as { [ends]?: (() => Promise<void>)[] };
worker[ends] ??= [];

/** Runs `work` after the last test of the current file. */
export function afterTestFile(work: () => Promise<void>): void {
  worker[ends]?.push(work);
}

afterAll(async () => {
  for (const end of worker[ends]?.splice(0) ?? []) await end();
});
