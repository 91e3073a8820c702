import type { Command } from 'commander';
import type { ServerCommandName } from './server/load-server-command.ts';

/** Loads a command of the server, with its examples. */
async function serverCommand(name: ServerCommandName): Promise<Command> {
  const { loadServerCommand } = await import('./server/load-server-command.ts');
  return loadServerCommand(name);
}

/** All subcommands by name. {@link commandGroups} has their order in `actlog --help`. */
export const subcommands: Readonly<Record<string, Subcommand>> = {
  serve: {
    summary: 'start a server and print its address and test keys',
    load: () => serverCommand('serve'),
  },
  keys: { summary: 'create, list, rotate and revoke API keys', load: () => serverCommand('keys') },
  tenants: { summary: 'list and delete tenants', load: () => serverCommand('tenants') },
  retention: {
    summary: 'set and list how long sessions, decisions, approvals and changes are kept',
    load: () => serverCommand('retention'),
  },
  'legal-holds': {
    summary: 'place, list and release legal holds, under which nothing is deleted',
    load: () => serverCommand('legal-holds'),
  },
  quota: { summary: 'set and list what a tenant may store', load: () => serverCommand('quota') },
  tags: { summary: 'correct how the risk engine classifies tools', load: () => serverCommand('tags') },
  learn: { summary: 'learn from a session that a person confirmed', load: () => serverCommand('learn') },
  webhooks: {
    summary: 'disable webhooks, rotate their secrets and replay messages',
    load: () => serverCommand('webhooks'),
  },
  backup: { summary: 'copy the database while the server runs', load: () => serverCommand('backup') },
  migrate: { summary: 'apply database migrations', load: () => serverCommand('migrate') },
  overview: {
    summary: 'show what happened, and what needs attention',
    load: async () => (await import('./overview/overview-command.ts')).overviewCommand(),
  },
  sessions: {
    summary: 'list, show, follow, export and score sessions',
    load: async () => (await import('./sessions/sessions-command.ts')).sessionsCommand(),
  },
  audit: {
    summary: 'list who changed what',
    load: async () => (await import('./audit/audit-command.ts')).auditCommand(),
  },
  agents: {
    summary: 'list, register, change and revoke agents',
    load: async () => (await import('./agents/agents-command.ts')).agentsCommand(),
  },
  events: {
    summary: 'search the events of all sessions, and record events',
    load: async () => (await import('./events/events-command.ts')).eventsCommand(),
  },
  feed: {
    summary: 'print all records in the order of the log, and follow them',
    load: async () => (await import('./events/events-command.ts')).feedCommand(),
  },
  evidence: {
    summary: 'make an archive that proves a period to an auditor',
    load: async () => (await import('./log/evidence-command.ts')).evidenceCommand(),
  },
  log: {
    summary: 'verify the record, and run a witness of it',
    load: async () => (await import('./log/log-command.ts')).logCommand(),
  },
  policies: {
    summary: 'list, change and try policies, and apply them from files',
    load: async () => (await import('./policies/policies-command.ts')).policiesCommand(),
  },
  guardian: {
    summary: 'watch, approve and deny held actions',
    load: async () => (await import('./guardian/guardian-command.ts')).guardianCommand(),
  },
  channels: {
    summary: 'manage Slack, mail, Teams, web push and webhooks, and see their deliveries',
    load: async () => (await import('./channels/channels-command.ts')).channelsCommand(),
  },
  risk: {
    summary: 'mark risk as expected, confirm attacks, handle sessions',
    load: async () => (await import('./risk/risk-command.ts')).riskCommand(),
  },
  rules: {
    summary: 'list and explain the rules of the risk score',
    load: async () => (await import('./risk/rules-command.ts')).rulesCommand(),
  },
  tool: {
    summary: 'show how the risk engine classifies a tool',
    load: async () => (await import('./risk/rules-command.ts')).toolCommand(),
  },
  conformance: {
    summary: 'check a deployment against the specification',
    load: async () => (await import('@actlog/contract/command')).conformanceCommand(),
  },
  completion: {
    summary: 'print the completion script of a shell',
    load: async () => (await import('./completion/completion-command.ts')).completionCommand(),
  },
  gateway: {
    summary: 'record, guard and hold the tool calls of an MCP client',
    load: async () => (await import('@actlog/gateway')).gatewayCommand(),
  },
  hook: {
    summary: 'record and guard the tools of a coding agent, which starts it',
    start: async (args) => (await import('@actlog/hook/run')).runHook(args),
  },
  init: {
    summary: 'set up a project, a coding agent or the MCP servers of a client',
    load: async () => (await import('./init/init-command.ts')).initCommand(),
  },
  doctor: {
    summary: 'find out why events do not arrive, and how to fix it',
    load: async () => (await import('./doctor/doctor-command.ts')).doctorCommand(),
  },
  spool: {
    summary: 'see and deliver the events that recorders left on disk',
    load: async () => (await import('./spool/spool-command.ts')).spoolCommand(),
  },
};

/** A subcommand that is loaded when it is run, so that `actlog --help` loads none of them. */
export type Subcommand = ParsedSubcommand | FastSubcommand;

/** A subcommand whose arguments commander parses. */
interface ParsedSubcommand {
  /** Description in the list of commands: a phrase in lower case, without a period. */
  readonly summary: string;
  /** Imports and creates the command. */
  load(): Promise<Command>;
}

/** A subcommand that parses its arguments itself, because it runs once for each tool call. */
interface FastSubcommand {
  readonly summary: string;
  /** Imports and runs the command. Resolves to the exit code. */
  start(args: readonly string[]): Promise<number>;
}
