import { processWide } from '../lib/process-wide.ts';

const counts = processWide('@actlog/recorder/own-names', () => new Map<string, number>());

/**
 * Returns a plugin name that is unique for this framework in the process: `actlog`, `actlog-2` and so on. Some
 * frameworks reject two plugins with the same name, or treat them as one.
 */
export function ownName(framework: string): string {
  const count = (counts().get(framework) ?? 0) + 1;
  counts().set(framework, count);
  return count === 1 ? 'actlog' : `actlog-${count}`;
}
