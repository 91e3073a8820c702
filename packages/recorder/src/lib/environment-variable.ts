/**
 * Reads an environment variable like the client: trimmed, because files with Windows line endings leave white space.
 * Returns undefined if it is missing or empty.
 */
export function environmentVariable(name: string): string | undefined {
  return process.env[name]?.trim() || undefined;
}
