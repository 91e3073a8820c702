import { timers } from '../lib/timers.ts';

/**
 * Returns `true` if a test has replaced the global `setImmediate` with a fake. Those of `@sinonjs/fake-timers` (jest,
 * Vitest) have a `clock`; those of `node:test` are bound functions. Other replacements, such as those of monitoring
 * tools, do call back.
 */
export function isImmediateFaked(): boolean {
  const { setImmediate } = globalThis;
  // Browser-like environments have no `setImmediate`.
  if (setImmediate === undefined || setImmediate === timers.setImmediate) return false;
  return 'clock' in setImmediate || setImmediate.name.startsWith('bound ');
}
