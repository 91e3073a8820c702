import { type ExitCode, exitCodes } from '../exit-codes.ts';

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

/** Error thrown when a person declined a destructive operation. It ends the command with exit code 0. */
export class CanceledError extends Error {
  override readonly name = 'CanceledError';

  constructor() {
    super('Nothing was changed.');
  }
}

/** Error with an exit code and a message that may span several lines. */
export class ExitCodeError extends Error {
  override readonly name: string = 'ExitCodeError';
  readonly exitCode: number;

  constructor(message: string, exitCode: ExitCode | number, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** Error thrown when a signal ended the command. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
  readonly exitCode: number;

  /** @param message - text for the user; none for the usual silence after Ctrl+C */
  constructor(signal: 'SIGINT' | 'SIGTERM', message = '') {
    super(message);
    this.exitCode = signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
  }
}
