import { serverCommands } from '@actlog/server/command';
import type { Command } from 'commander';
import { addExamples, type Example } from '../command/client-command.ts';

/** Name of a command that `@actlog/server` has. */
export type ServerCommandName = keyof typeof serverCommands;

/** Loads a command of the server, and adds examples to the help of it and its subcommands. */
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

/** Examples of the commands of the server, by path. */
const serverExamples: Readonly<Record<string, readonly Example[]>> = {
  serve: [
    ['actlog serve', 'on http://127.0.0.1:8787, with its data in actlog.db'],
    ['actlog serve --port 0 --database :memory:', 'a free port, and nothing is kept'],
  ],
  'keys create': [
    [
      "actlog keys create billing --scopes ingest --agents 'billing*'",
      'a key that records and checks as these agents, and cannot approve',
    ],
  ],
  'keys list': ['actlog keys list --tenant acme'],
  'keys rotate': [['actlog keys rotate ID --overlap-days 2', 'the old key is valid for two more days']],
  'keys revoke': ['actlog keys revoke ID'],
  'tenants list': ['actlog tenants list'],
  'tenants delete': [
    ['actlog tenants delete acme', 'show what would be deleted'],
    'actlog tenants delete acme --yes',
  ],
  'sessions delete': [
    'actlog sessions delete order-4711 --database /var/lib/actlog/actlog.db --yes',
    ['actlog sessions delete order-4711 --erasure "Request 12"', 'also decisions before their floor'],
  ],
  retention: [
    ['actlog retention', 'list what is in force'],
    'actlog retention 90',
    ['actlog retention 365 --decisions', 'not below the floor of the deployment'],
    ['actlog retention forever', 'no limit'],
  ],
  'legal-holds create': [
    ['actlog legal-holds create "Case 4711" --agent billing', 'all records about an agent'],
    ['actlog legal-holds create "Audit 2026" --since 2026-01-01 --until 2027-01-01', 'all records of a year'],
  ],
  'legal-holds list': ['actlog legal-holds list --all'],
  'legal-holds release': ['actlog legal-holds release lgh_0198c1d2e3f47a5b'],
  'quota set': ['actlog quota set eventsPerMonth 1000000 --tenant acme'],
  'quota list': ['actlog quota list --tenant acme'],
  'tags set': [
    'actlog tags set crm_sync read_private,external_comm',
    ['actlog tags set crm_sync default', 'classify it by its name again'],
  ],
  'tags list': ['actlog tags list'],
  learn: ['actlog learn order-4711'],
  'webhooks list': ['actlog webhooks list'],
  'webhooks disable': ['actlog webhooks disable ID'],
  'webhooks enable': ['actlog webhooks enable ID'],
  'webhooks rotate': ['actlog webhooks rotate ID --overlap-days 2'],
  'webhooks deliveries': ['actlog webhooks deliveries ID'],
  'webhooks replay': ['actlog webhooks replay DELIVERY'],
  backup: ['actlog backup /backups/actlog-1.db'],
  migrate: ["ACTLOG_DATABASE='postgres://actlog_owner@db.internal/actlog' actlog migrate"],
};
