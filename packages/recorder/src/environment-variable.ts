/**
 * Reads an environment variable as the client does: without the white space around it that a file of variables with
 * Windows line ends leaves there. Undefined where nothing is left, or there is none.
 */
export function environmentVariable(name: string): string | undefined {
  return process.env[name]?.trim() || undefined;
}
