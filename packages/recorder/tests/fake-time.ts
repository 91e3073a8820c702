import { vi } from 'vitest';
import { timers } from '../src/lib/timers.ts';

const real = { ...timers };

/** Does the same as `vi.useFakeTimers`, including the recorder's own timers. */
export function useFakeTime(...options: Parameters<typeof vi.useFakeTimers>): void {
  vi.useFakeTimers(...options);
  const { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } = globalThis;
  const now = () => performance.now();
  Object.assign(timers, { clearInterval, clearTimeout, now, setImmediate, setInterval, setTimeout });
}

/** Reverts {@link useFakeTime}. */
export function useRealTime(): void {
  Object.assign(timers, real);
  vi.useRealTimers();
}
