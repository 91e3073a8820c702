import { processWide } from '../process-wide.ts';

const counts = processWide('@actlog/recorder/own-names', () => new Map<string, number>());

/**
 * A name for a plugin that no other of this framework has in the process: `actlog`, `actlog-2` and so on. Some
 * frameworks refuse two of one name, or take them for the same.
 */
export function ownName(framework: string): string {
  const count = (counts().get(framework) ?? 0) + 1;
  counts().set(framework, count);
  return count === 1 ? 'actlog' : `actlog-${count}`;
}
