import { vi } from 'vitest';

/**
 * Loads modules once more, all that they are made of too: an application may bring one version of a package, and a
 * library that it uses another.
 *
 * @param load - imports them
 */
export function secondCopy<Modules>(load: () => Promise<Modules>): Promise<Modules> {
  vi.resetModules();
  return load();
}
