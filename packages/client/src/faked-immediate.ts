/**
 * Whether a test has put a fake in the place of the global `setImmediate`: one of `@sinonjs/fake-timers`, as jest and
 * Vitest use it, which carries its clock, or one of `node:test`, which is bound.
 */
export function isImmediateFaked(): boolean {
  const { setImmediate } = globalThis as { setImmediate?: { readonly name: string } };
  return setImmediate !== undefined && ('clock' in setImmediate || setImmediate.name.startsWith('bound '));
}
