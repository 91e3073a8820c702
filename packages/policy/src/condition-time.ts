import type { CheckedAction } from './checked-action.ts';

/** Milliseconds that all conditions together may take for one action, because nothing else is done meanwhile. */
const mostMs = 500;

const spentMs = new WeakMap<CheckedAction, number>();

/**
 * Asks one condition about an action, for as long as there is time left.
 *
 * @throws Error when the conditions before it have used up the time of the action.
 */
export function inTimeOf<Answer>(action: CheckedAction, ask: () => Answer): Answer {
  const before = spentMs.get(action) ?? 0;
  if (before >= mostMs) throw new Error(`the conditions before it took ${mostMs} ms`);
  const startedMs = performance.now();
  try {
    return ask();
  } finally {
    spentMs.set(action, before + performance.now() - startedMs);
  }
}
