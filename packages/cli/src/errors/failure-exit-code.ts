import { exitCodes } from '../exit-codes.ts';

/**
 * Returns the exit code of a command that failed: 1 instead of 2 for `policies plan --exit-code`, where 2 means that
 * changes are planned.
 */
export function failureExitCode(args: readonly string[], exitCode: number): number {
  const [name, subcommand] = args;
  const isReserved = name === 'policies' && subcommand === 'plan' && args.includes('--exit-code');
  return isReserved && exitCode === exitCodes.usage ? exitCodes.failed : exitCode;
}
