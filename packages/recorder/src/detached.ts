import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Runs a function outside of any request or session of the agent. What is set going there (timers, connections) does
 * not hold on to what the agent carries by AsyncLocalStorage, and does not hand it on to callbacks. What was carried where
 * this file was first imported is all that is kept: Node has no way out of that.
 */
export const detached: <Result>(fn: () => Result) => Result = AsyncLocalStorage.snapshot();
