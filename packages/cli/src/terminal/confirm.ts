import { createInterface } from 'node:readline/promises';
import { UsageError } from '../errors/usage-error.ts';
import { Interruption } from './interruption.ts';

/** `true` if a person can answer questions: standard input and standard error are a terminal. */
export function canPrompt(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY);
}

/**
 * Asks a person before a destructive operation.
 *
 * @param action - phrase such as `archive the policy "x"`
 * @param yes - `true` if the option `--yes` was given: nothing is asked
 * @returns `false` if the person declined
 * @throws UsageError without a terminal and without `--yes`
 */
export async function confirm(action: string, yes: boolean | undefined): Promise<boolean> {
  if (yes) return true;
  if (!canPrompt()) throw new UsageError(`Add --yes to ${action} without a terminal to confirm it.`);
  const interruption = new Interruption();
  const readline = createInterface({ input: process.stdin, output: process.stderr });
  readline.once('SIGINT', () => interruption.interrupt());
  try {
    const reply = await readline.question(`Do you want to ${action}? [y/N] `, {
      signal: interruption.signal,
    });
    return /^y(es)?$/i.test(reply.trim());
  } catch (error) {
    interruption.check();
    throw error;
  } finally {
    readline.close();
    interruption.close();
  }
}
