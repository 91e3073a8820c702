import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Runs a function outside any async context of the agent. Timers and connections started there do not retain the
 * agent's `AsyncLocalStorage` values or pass them to callbacks. Only the context of the first import of this file is
 * kept, which Node cannot avoid.
 */
export const detached: <Result>(fn: () => Result) => Result = AsyncLocalStorage.snapshot();
