import { randomBytes } from 'node:crypto';

let secret: string | undefined;

/**
 * Returns the secret of this process for digests that stay in memory. Created when it is first used, because workerd
 * allows no random values while modules are loaded.
 */
export function processSecret(): string {
  secret ??= randomBytes(16).toString('hex');
  return secret;
}
