// Built as one CommonJS file with everything in it, which starts in half the time of the same code in modules: nothing is
// resolved, and no export of a Node module is read that is not used.
export { runHook } from './run-hook.ts';
