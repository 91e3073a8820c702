/**
 * The command of the conformance suite, for a program that contains it.
 *
 * @packageDocumentation
 */
import type { Command } from 'commander';
import { contractCommand } from './command.ts';

/**
 * Creates the command `conformance`, which checks a deployment of the service against the specification. It reads its
 * keys from the environment of this process, sets the exit code of this process, and ends early on SIGINT or SIGTERM.
 *
 * @param name - name of the command
 */
export function conformanceCommand(name = 'conformance'): Command {
  const ended = new AbortController();
  const surroundings = {
    write: (text: string) => void process.stdout.write(text),
    writeError: (text: string) => void process.stderr.write(text),
    environment: process.env,
    signal: ended.signal,
  };
  const command = contractCommand(name, surroundings, (exitCode) => {
    process.exitCode = exitCode;
  });
  return command.hook('preAction', () => {
    process.once('SIGINT', () => ended.abort());
    process.once('SIGTERM', () => ended.abort());
  });
}
