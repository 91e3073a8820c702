import { existsSync } from 'node:fs';

/**
 * Returns the file of the writer thread, which is beside the file at `address` both as source and as built.
 *
 * @param address - URL of a file of the root folder; in a bundle another one or none
 * @throws Error if there is no such file
 */
export function threadFile(address: string | undefined): URL {
  const file = URL.parse(`./sqlite-worker.${address?.endsWith('.ts') ? 'ts' : 'js'}`, address);
  if (file && existsSync(file)) return file;
  throw new Error(
    'The thread that writes to a database file needs a separate file, which a bundle does not contain: leave @actlog/server out of the bundle, for example with --external:@actlog/server.',
  );
}
