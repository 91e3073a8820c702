import { hash } from 'node:crypto';

/** Length of the digest in an id: 128 bits, in hex. */
const digestLength = 32;

/**
 * Returns the permanent id of a person. It stays the same when the person's name changes, and no two issuers share one.
 *
 * @param issuer - the provider that names the person
 * @param subject - identifier of the person at the provider
 */
export function userId(issuer: string, subject: string): string {
  return `usr_${hash('sha256', JSON.stringify([issuer, subject])).slice(0, digestLength)}`;
}
