import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Runs a function outside of any request or session of the agent. What is set going there (timers, connections) does
 * not hold on to what the agent carries by AsyncLocalStorage, and does not hand it on to callbacks.
 */
export const detached: <Result>(fn: () => Result) => Result = AsyncLocalStorage.snapshot();
