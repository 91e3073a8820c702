import { vi } from 'vitest';

/**
 * Loads modules and their dependencies again, like an application and a library that use different versions of a
 * package.
 *
 * @param load - imports the modules
 */
export function secondCopy<Modules>(load: () => Promise<Modules>): Promise<Modules> {
  vi.resetModules();
  return load();
}
