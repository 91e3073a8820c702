import type { Writable } from 'node:stream';

/** Resolves when everything is written to a stream, or it is closed. */
export function written(output: Writable): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (output.destroyed || !output.writable) return Promise.resolve();
  output.once('close', () => resolve());
  output.write('', () => resolve());
  return promise;
}
