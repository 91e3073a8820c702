import { Command } from 'commander';
import { addEventsSend } from './send.ts';

/** Creates the command `events`. */
export function eventsCommand(): Command {
  const events = new Command('events').description(
    'Records events of agents. Adapters and `@actlog/recorder` do it for programs, without losing any.',
  );
  addEventsSend(events);
  return events;
}
