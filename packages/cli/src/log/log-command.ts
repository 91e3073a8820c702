import { Command } from 'commander';
import { addVerify } from './verify.ts';
import { addWitness } from './witness.ts';

/** Creates the command `log`. */
export function logCommand(): Command {
  const command = new Command('log').description(
    'Verifies the record of a deployment without trusting it, and runs a witness of it.',
  );
  addVerify(command);
  addWitness(command);
  return command;
}
