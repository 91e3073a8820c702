import { vi } from 'vitest';
import { timers } from '../src/timers.ts';

const real = { ...timers };

/** As `vi.useFakeTimers`, for the recorder's own timers too. */
export function useFakeTime(...options: Parameters<typeof vi.useFakeTimers>): void {
  vi.useFakeTimers(...options);
  const { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } = globalThis;
  const now = () => performance.now();
  Object.assign(timers, { clearInterval, clearTimeout, now, setImmediate, setInterval, setTimeout });
}

/** Ends {@link useFakeTime}. */
export function useRealTime(): void {
  Object.assign(timers, real);
  vi.useRealTimers();
}
