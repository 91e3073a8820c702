import { singleLineName } from '../keys/single-line-name.ts';

/** Claims about a person, from an ID token and the provider's UserInfo endpoint. */
export type Claims = Readonly<Record<string, unknown>>;

/** Claims with the name of a person, in order of preference. */
const nameClaims = ['email', 'preferred_username', 'sub'] as const;

/**
 * Returns a claim by its name, or by a dotted path such as `realm_access.roles`. A claim whose whole name contains the
 * dots comes first, as in `https://example.com/roles`.
 */
export function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Claims)[name];
  }
  return value;
}

/** Returns the groups in a claim: an array of texts, or a single text. */
export function groupsIn(claims: Claims, path: string): string[] {
  const value = claimAt(claims, path);
  const groups: readonly unknown[] = Array.isArray(value) ? value : [value];
  return groups.filter((group) => typeof group === 'string');
}

/**
 * Returns the name of a person.
 *
 * @param nameClaim - claim with the name; by default `email`, unless the provider says that it is not verified, then
 *   `preferred_username`. `sub` replaces a claim that is missing
 * @returns `undefined` if no claim has a name of 1 to 200 characters on one line.
 */
export function nameIn(claims: Claims, nameClaim: string | undefined): string | undefined {
  const candidates = nameClaim === undefined ? nameClaims : [nameClaim, 'sub'];
  for (const path of candidates) {
    // Otherwise people could take the name of others by entering their address in a profile.
    if (path === 'email' && String(claims.email_verified) === 'false') continue;
    const { success, data } = singleLineName.safeParse(claimAt(claims, path));
    if (success && data.trim() !== '') return data.trim();
  }
  return undefined;
}
