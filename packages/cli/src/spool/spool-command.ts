import { Command } from 'commander';
import { flushCommand } from './flush-command.ts';
import { inspectCommand } from './inspect-command.ts';
import { statusCommand } from './status-command.ts';

/** Creates the command `actlog spool`. */
export function spoolCommand(): Command {
  const command = new Command('spool').description('see and deliver the events that recorders left on disk');
  statusCommand(command);
  flushCommand(command);
  inspectCommand(command);
  return command;
}
