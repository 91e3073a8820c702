import { singleLineName } from '../tenants/single-line-name.ts';

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

/** Claim that people can set themselves at some providers. */
const emailClaim = 'email';

/** `true` unless the provider says that the email address of a person is not verified. */
function isEmailVerified({ email_verified: verified }: Claims): boolean {
  return !['false', '0', 'no'].includes(String(verified).toLowerCase());
}

/**
 * Returns the groups in a claim: an array of texts, or a single text. An email address that is not verified is no group:
 * people could take the role of others by entering their address in a profile.
 */
export function groupsIn(claims: Claims, path: string): string[] {
  if (path === emailClaim && !isEmailVerified(claims)) return [];
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
    if (path === emailClaim && !isEmailVerified(claims)) continue;
    const { success, data } = singleLineName.safeParse(claimAt(claims, path));
    if (success && data.trim() !== '') return data.trim();
  }
  return undefined;
}

/** Time by which the clock of the provider may be ahead, in seconds. */
const maxClockSkewSeconds = 60;

/**
 * Returns the code of a problem of an ID token that its audience and expiry do not show: it was issued to another client
 * (`azp`), or in the future (`iat`), so that it would outlive its time. `undefined` for none.
 */
export function tokenProblem(
  { azp, iat }: Claims,
  clientId: string,
  nowSeconds: number,
): 'wrong_azp' | 'future_iat' | undefined {
  if (azp !== undefined && azp !== clientId) return 'wrong_azp';
  return typeof iat === 'number' && iat <= nowSeconds + maxClockSkewSeconds ? undefined : 'future_iat';
}
