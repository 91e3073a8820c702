import { monitorEventLoopDelay } from 'node:perf_hooks';

const resolutionMs = 1;

/** Monitors the longest event-loop stall without keeping the loop busy. */
export function watchStalls(): { stop(): number } {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  return {
    stop: () => {
      histogram.disable();
      // The histogram records the time between two timers, which equals the resolution without a stall.
      return Math.max(0, histogram.max / 1e6 - resolutionMs);
    },
  };
}
