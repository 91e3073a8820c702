/**
 * Returns `true` if a test has replaced the global `setImmediate` with a fake. Those of `@sinonjs/fake-timers` (jest,
 * Vitest) have a `clock`; those of `node:test` are bound functions.
 */
export function isImmediateFaked(): boolean {
  const { setImmediate } = globalThis as { setImmediate?: { readonly name: string } };
  return setImmediate !== undefined && ('clock' in setImmediate || setImmediate.name.startsWith('bound '));
}
