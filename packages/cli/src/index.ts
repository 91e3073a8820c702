/**
 * The command `actlog`, for programs that run it in-process.
 *
 * @packageDocumentation
 */
export { type ExitCode, exitCodes } from './exit-codes.ts';
export { run } from './run.ts';
