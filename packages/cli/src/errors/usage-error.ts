/** Error thrown when an argument, an option or an environment variable is missing or invalid. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
