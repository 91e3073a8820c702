#!/usr/bin/env node
import { CommanderError } from 'commander';
import { contractCommand, exitCodes } from './command.ts';

const ended = new AbortController();
process.once('SIGINT', () => ended.abort());
process.once('SIGTERM', () => ended.abort());

const surroundings = {
  write: (text: string) => void process.stdout.write(text),
  writeError: (text: string) => void process.stderr.write(text),
  environment: process.env,
  signal: ended.signal,
};

try {
  await contractCommand(surroundings, (exitCode) => {
    process.exitCode = exitCode;
  }).parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : exitCodes.USAGE;
  else {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = exitCodes.USAGE;
  }
}
