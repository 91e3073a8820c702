import { serverCommands } from '@actlog/server/command';
import type { Command } from 'commander';
import { addExamples } from '../command/examples.ts';
import { serverExamples } from './server-examples.ts';

/** Name of a command that `@actlog/server` has. */
export type ServerCommandName = keyof typeof serverCommands;

/** Loads a command of the server, and adds examples to its help and to that of its commands. */
export async function loadServerCommand(name: ServerCommandName): Promise<Command> {
  const command = await serverCommands[name]();
  addServerExamples(command, name);
  return command;
}

/** Adds the examples of a command of the server, and of the commands in it. */
export function addServerExamples(command: Command, path: string): void {
  const examples = serverExamples[path];
  if (examples) addExamples(command, examples);
  for (const inner of command.commands) addServerExamples(inner, `${path} ${inner.name()}`);
}
