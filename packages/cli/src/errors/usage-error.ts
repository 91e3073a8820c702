/** Error thrown when an argument, an option or an environment variable is missing or invalid. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Error thrown when no API key is set. */
export class MissingKeyError extends Error {
  override readonly name = 'MissingKeyError';

  constructor() {
    super(
      'No API key is set: export ACTLOG_API_KEY, or name a file that has it with --env-file. `actlog serve` prints a test key, and `actlog keys create NAME` creates one.',
    );
  }
}
