import { monitorEventLoopDelay } from 'node:perf_hooks';

const resolutionMs = 1;

/** Watches how long the event loop stands still at the most, without keeping it busy. */
export function watchStalls(): { stop(): number } {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  return {
    stop: () => {
      histogram.disable();
      // The histogram holds the time between two timers, which is the resolution when nothing stands still.
      return Math.max(0, histogram.max / 1e6 - resolutionMs);
    },
  };
}
