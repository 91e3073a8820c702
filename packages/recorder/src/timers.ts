import { performance } from 'node:perf_hooks';
import { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } from 'node:timers';

/** Milliseconds that never go back. */
const now = () => performance.now();

/**
 * The timers of Node itself, and the clock that they follow. A test that fakes the global ones would otherwise stop
 * delivery, and for good where it goes back to the real ones before a faked one has come.
 */
export const timers = { clearInterval, clearTimeout, now, setImmediate, setInterval, setTimeout };
