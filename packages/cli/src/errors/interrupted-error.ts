import { exitCodes } from '../exit-codes.ts';

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
