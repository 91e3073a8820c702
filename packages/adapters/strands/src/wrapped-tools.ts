import { processWide } from '@actlog/recorder/adapter';

/** Tools that record their own calls. */
const wrappedTools = processWide('@actlog/strands/wrapped-tools', () => new WeakSet<object>());

/** Notes a tool of `actlog.tools()`. */
export function noteWrapped(tool: object): void {
  wrappedTools().add(tool);
}

/** Returns `true` for a tool of `actlog.tools()`. */
export function isWrapped(tool: object): boolean {
  return wrappedTools().has(tool);
}
