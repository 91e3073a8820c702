import { performance } from 'node:perf_hooks';
import { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } from 'node:timers';

/** Returns monotonic milliseconds. */
const now = () => performance.now();

/**
 * Node's own timers and clock. A test that fakes the global ones would otherwise stop delivery, and permanently if it
 * restores the real ones before a fake timer has fired.
 */
export const timers = { clearInterval, clearTimeout, now, setImmediate, setInterval, setTimeout };
