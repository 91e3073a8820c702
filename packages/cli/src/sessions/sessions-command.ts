import { addSessionDelete } from '@actlog/server/command';
import { Command } from 'commander';
import { CanceledError } from '../errors/canceled-error.ts';
import { printable } from '../output/printable.ts';
import { addServerExamples } from '../server/load-server-command.ts';
import { confirm } from '../terminal/confirm.ts';
import { addSessionsExport } from './export.ts';
import { addSessionsList } from './list.ts';
import { addSessionsRisk } from './risk.ts';
import { addSessionsShow } from './show.ts';
import { addSessionsTail } from './tail.ts';

/** Adds `sessions delete` of the server, which asks a person first. */
function addDelete(sessions: Command): void {
  const command = addSessionDelete(sessions).hook('preAction', async ({ args }) => {
    const { yes } = command.opts<{ readonly yes?: true }>();
    if (await confirm(`delete the session "${printable(args[0] ?? '')}" permanently`, yes)) return;
    throw new CanceledError();
  });
  addServerExamples(command, 'sessions delete');
}

/** Creates the command `sessions`: reads sessions over HTTP, and deletes them in the database. */
export function sessionsCommand(): Command {
  const sessions = new Command('sessions').description(
    'Reads the sessions of agents over HTTP. An operator of the server deletes them in its database.',
  );
  sessions.commandsGroup('Over HTTP, with an API key:');
  addSessionsList(sessions);
  addSessionsShow(sessions);
  addSessionsTail(sessions);
  addSessionsExport(sessions);
  addSessionsRisk(sessions);
  sessions.commandsGroup('In the database of the server:');
  addDelete(sessions);
  return sessions;
}
