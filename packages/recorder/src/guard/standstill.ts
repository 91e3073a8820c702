import { timers } from '../timers.ts';

/** Milliseconds between two looks: timers are late by some at all times, and that is no standstill. */
const shortestBetweenLooksMs = 20;
const longestBetweenLooksMs = 1000;

/**
 * Watches whether this process stands still, as it does while a tool holds up the event loop or the machine sleeps. Of
 * what arrives meanwhile it hears too late, and takes the time to be over first.
 *
 * @param timeMs - how long what it waits for may take
 * @returns ends the watch, and says whether the process stood still for half of that time or more
 */
export function watchStandstill(timeMs: number): () => boolean {
  const betweenLooksMs = Math.min(Math.max(timeMs / 10, shortestBetweenLooksMs), longestBetweenLooksMs);
  let lookedAtMs = timers.now();
  let stoodStillMs = 0;
  const look = () => {
    const nowMs = timers.now();
    stoodStillMs += Math.max(0, nowMs - lookedAtMs - betweenLooksMs);
    lookedAtMs = nowMs;
  };
  const timer = timers.setInterval(look, betweenLooksMs).unref();
  return () => {
    timers.clearInterval(timer);
    look();
    return stoodStillMs >= timeMs / 2;
  };
}
