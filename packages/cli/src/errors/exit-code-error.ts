import type { ExitCode } from '../exit-codes.ts';

/** Error with an exit code of its own and a message that may span several lines. */
export class ExitCodeError extends Error {
  override readonly name: string = 'ExitCodeError';
  readonly exitCode: number;

  constructor(message: string, exitCode: ExitCode | number, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
