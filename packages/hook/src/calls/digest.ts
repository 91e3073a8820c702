import { hash } from 'node:crypto';

/** Returns a digest that is safe in a file name, because ids of agents may contain anything. */
export function digest(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts)).slice(0, 16);
}
