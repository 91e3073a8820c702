/** Claims of a token. */
export type Claims = Readonly<Record<string, unknown>>;

/**
 * Returns a claim by its name, or by a dotted path such as `act.sub`. A claim whose whole name contains the dots comes
 * first, as in `https://example.com/agent`.
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

/** `true` unless the issuer says that the email address is not verified: people can enter any address in a profile. */
export function isEmailVerified({ email_verified: verified }: Claims): boolean {
  return !['false', '0', 'no'].includes(String(verified).toLowerCase());
}
