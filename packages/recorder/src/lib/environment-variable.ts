/**
 * Reads an environment variable like the client: trimmed, because files with Windows line endings leave white space.
 * Returns undefined if it is missing or empty.
 */
export function environmentVariable(name: string): string | undefined {
  return process.env[name]?.trim() || undefined;
}

/**
 * Reads a boolean from an environment variable; undefined if it is missing or empty.
 *
 * @throws TypeError when it is neither `true`, `1`, `false` nor `0`
 */
export function booleanVariable(name: string): boolean | undefined {
  const text = environmentVariable(name)?.toLowerCase();
  if (text === undefined) return undefined;
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw new TypeError(`${name} must be true or false, got "${text}".`);
}
