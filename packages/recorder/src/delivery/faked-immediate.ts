import { timers } from '../timers.ts';

/**
 * Whether a test has put a fake in the place of the global `setImmediate`: one of `@sinonjs/fake-timers`, as jest and
 * Vitest use it, which carries its clock, or one of `node:test`, which is bound. Others that stand there, such as those
 * of tools that watch a process, call back.
 */
export function isImmediateFaked(): boolean {
  const { setImmediate } = globalThis;
  // Environments that play a browser have none.
  if (setImmediate === undefined || setImmediate === timers.setImmediate) return false;
  return 'clock' in setImmediate || setImmediate.name.startsWith('bound ');
}
