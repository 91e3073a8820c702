import { vi } from 'vitest';

/** Time for which `vi.waitFor` waits unless told, in milliseconds: that of `expect.poll`, for slow and busy machines. */
const timeout = 20_000;

// Files of one worker share `vi`, so it is changed for the first of them only.
const changed = Symbol.for('actlog.waitFor');
if (!(changed in vi)) {
  const { waitFor } = vi;
  const waitForLonger: typeof waitFor = (callback, options) =>
    waitFor(callback, typeof options === 'number' ? options : { timeout, ...options });
  Object.assign(vi, { waitFor: waitForLonger, [changed]: true });
}
