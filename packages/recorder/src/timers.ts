import { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } from 'node:timers';

/**
 * The timers of Node itself. A test that fakes the global ones would otherwise stop delivery, and for good where it
 * goes back to the real ones before a faked one has come.
 */
export const timers = { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout };
