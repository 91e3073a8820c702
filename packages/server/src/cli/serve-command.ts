import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { configuration, type ServerOptions } from '../configuration.ts';
import { secretFrom } from './secret-variables.ts';

/** Returns the command `serve`, which starts the server. */
export function serveCommand(): Command {
  const serve = new Command('serve')
    .description('start the server and print its address and a test key')
    .option('--config <file>', 'JSON file with settings; flags and environment variables come first')
    .action(async (flags: Record<string, string | undefined>) => {
      const defaults = { port: 8787, database: 'actlog.db', logLevel: 'info' } as const;
      // Imported here, because help starts twice as fast without the server.
      const { runServer } = await import('./run-server.ts');
      await runServer(collectSettings(flags, process.env, flags.config, defaults));
    });
  for (const option of settingOptions()) serve.addOption(option);
  return serve.addHelpText('after', secretsHelp());
}

/** Descriptions of the settings for `--help`. */
const descriptions: Record<keyof typeof configuration.shape, string> = {
  host: 'address to listen on',
  port: 'port to listen on; 0 takes a free one',
  database: 'SQLite file, :memory:, or postgres://… (with a password better by variable)',
  databaseConnections: 'maximum connections to PostgreSQL',
  maxDatabaseBytes: 'maximum size of the SQLite file in bytes',
  secret: "the deployment's secret, at least 32 characters; by default in a file beside the database",
  logKey: "secret of the logs' key, at least 32 characters; by default derived from the deployment's secret",
  previousLogKey: 'logKey before its last rotation, which signs too while it is set',
  logName: 'beginning of the names of the logs, such as actlog.example.com; never change it',
  logWitnesses: 'JSON array of the witnesses that cosign the logs, each "<verifier key> <url>"',
  logAccess: 'access to checkpoints and tiles of the logs: open, or key',
  tenant: 'tenant of the printed key, and of people who sign in',
  apiKey:
    "the administrator's key, to use instead of creating one; agents and the client read ACTLOG_API_KEY",
  agents: "comma-separated agents that the printed agents' key may act as, such as billing*; any by default",
  acceptTestKeys: 'true to accept keys of kind test',
  maxQueuedEvents: 'maximum events that wait to be stored',
  maxQueuedBytes: 'maximum bytes of memory, each for events, checks, other requests, exports and responses',
  rateLimit: 'false, or JSON such as {"requestsPerSecond":100,"burst":200}, for each key',
  invalidKeyLimit: 'the same for requests without a valid key, for each client address',
  quotas: 'JSON such as {"sessions":1000000,"agents":null}, for tenants without quotas of their own',
  retention:
    'JSON such as {"sessions":90,"decisions":365}: days, or null for forever, for tenants without their own',
  retentionFloors:
    'JSON such as {"decisions":365}: days for which nothing is deleted; 183 for decisions, approvals and audit',
  webhookAllowedRanges: 'JSON array of ranges that webhooks may reach besides public addresses',
  webhookAllowedPorts: '"any", or a JSON array of the ports that webhooks may use',
  webhookHostRate: 'false, or JSON such as {"requestsPerSecond":20,"burst":100}, for each host of webhooks',
  forward: 'JSON array of destinations of all records, or the path of a file with it; see docs/forwarding.md',
  history:
    'database of ClickHouse for the history, https://user:password@host:8443/database; see docs/history.md',
  historyDays: 'days for which the history keeps events; null for forever',
  historyBlockSeconds: 'seconds for which events are collected into a block for the history',
  requestTimeoutMs: 'milliseconds that a request may take to arrive, and a response may stay unread',
  docs: 'false to serve no documentation at /docs',
  metrics: 'access to /metrics without a token: loopback or open',
  metricsToken: 'bearer token for /metrics',
  keepDecisions: 'true to keep the decision of every check',
  keepLog: 'true to keep a log that outsiders can verify',
  publicUrl:
    'address at which people reach the server, such as https://actlog.example.com; required to sign in',
  oidcIssuer: 'issuer of the OpenID provider that people sign in with',
  oidcClientId: 'client id of this server at the provider',
  oidcClientSecret: 'client secret of this server at the provider; none for a public client',
  oidcScopes: 'scopes to request from the provider, separated by spaces',
  oidcNameClaim: 'claim with the name of the person; by default email, then preferred_username, then sub',
  oidcRolesClaim: 'claim with the groups of the person, such as groups or realm_access.roles',
  oidcLabel: 'name of the provider on the sign-in page',
  roles: 'JSON such as {"security":"admin","on-call":"approver"}: the roles of groups',
  defaultRole: 'role of people without such a group: none, viewer, approver or admin',
  signInIdleMinutes: 'minutes without a request after which a person is signed out',
  signInMaxMinutes: 'minutes after which a person must sign in again',
  principalHeader: 'header in which a trusted proxy names the person, such as x-forwarded-user',
  groupsHeader: 'header in which a trusted proxy lists the groups of the person, such as x-forwarded-groups',
  trustedProxies: 'JSON array of the ranges of proxies whose headers are trusted, such as ["10.1.0.7/32"]',
  proxySecret: 'secret that a trusted proxy sends in the header x-actlog-proxy-secret',
  proxySignOutUrl: 'address at which people sign out of the proxy, such as /oauth2/sign_out',
  slackBotToken: 'bot token of the Slack app that asks for approvals, xoxb-…',
  slackSigningSecret: 'signing secret of the Slack app, by which clicks are verified',
  slackApiUrl: "address of Slack's Web API; by default https://slack.com/api/",
  slackPeople: 'JSON such as {"U0123456789":"ada@example.com"}: people by the ids of Slack users',
  smtpUrl: 'address of the mail server, such as smtps://user:password@mail.example.com',
  mailFrom: 'sender of mails, such as actlog <actlog@example.com>',
  channelSignInDays: 'days after a sign-in for which its person can decide in Slack and is notified',
  identityIssuers:
    'JSON array of the issuers of tokens that verify agents, or the path of a file with it; see docs/identity.md',
  requireIdentity: 'true to refuse events and checks without a token that verifies their agent',
  traceUrl: 'address of a trace in your tracer, such as https://jaeger.example.com/trace/{traceId}',
  console: 'true to serve /console',
  logLevel: 'silent, fatal, error, warn, info, debug or trace',
};

/** Settings without a flag, because flags show in the process list. */
const secretSettings: ReadonlySet<string> = new Set([
  'secret',
  'logKey',
  'previousLogKey',
  'apiKey',
  'metricsToken',
  'oidcClientSecret',
  'proxySecret',
  'slackBotToken',
  'slackSigningSecret',
  'smtpUrl',
  'history',
]);

const names = Object.keys(configuration.shape) as (keyof typeof configuration.shape)[];

function upperSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** Returns the environment variable of a setting, such as `ACTLOG_MAX_DATABASE_BYTES`. */
function variableOf(name: string): string {
  // Never ACTLOG_API_KEY: that is the key of an agent, which must not get every scope because it is exported.
  if (name === 'apiKey') return 'ACTLOG_ADMIN_KEY';
  return `ACTLOG_${upperSnakeCase(name)}`;
}

/** Returns the environment variables of all settings. Those of secrets can have the suffix `_FILE`. */
export function settingVariables(): string[] {
  return names.map(variableOf);
}

/** Returns the flags of the command: one for each setting that is not a secret. */
export function settingOptions(): Option[] {
  return names
    .filter((name) => !secretSettings.has(name))
    .map(
      (name) =>
        new Option(
          `--${upperSnakeCase(name).toLowerCase().replaceAll('_', '-')} <value>`,
          `${descriptions[name]} (${variableOf(name)})`,
        ),
    );
}

/** Returns the help text for the settings without a flag. */
export function secretsHelp(): string {
  const lines = names
    .filter((name) => secretSettings.has(name))
    .map((name) => `  ${variableOf(name).padEnd(28)}${descriptions[name]}`);
  return `\nSecrets have no flags; set the variable, or the variable with the suffix _FILE to a file, or the --config file:\n${lines.join('\n')}`;
}

/**
 * Returns the settings from flags, environment, file and `defaults`, in this order of precedence.
 *
 * @throws Error when the file, or that of a secret, is unreadable or invalid. The message quotes nothing of its
 *   content.
 */
export function collectSettings(
  flags: Readonly<Record<string, unknown>>,
  environment: Readonly<Record<string, string | undefined>>,
  file: string | undefined,
  defaults: ServerOptions,
): ServerOptions {
  const settings: Record<string, unknown> = { ...defaults, ...(file !== undefined && readSettings(file)) };
  for (const name of names) {
    const text = flags[name] ?? variableText(name, environment);
    if (typeof text === 'string' && text !== '') settings[name] = parseSetting(name, text);
  }
  return settings;
}

function variableText(
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const variable = variableOf(name);
  if (secretSettings.has(name)) return secretFrom(environment, variable);
  const text = environment[variable];
  // Kubernetes sets ACTLOG_PORT to a URL in every container if a Service is named "actlog".
  return name === 'port' && text?.startsWith('tcp://') ? undefined : text;
}

function readSettings(file: string): object {
  const settings = jsonOf(file);
  if (typeof settings === 'object' && settings !== null && !Array.isArray(settings)) return settings;
  throw new Error(`${file} must contain one JSON object with settings.`);
}

/** Returns the text of a file, without a byte order mark. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/^\u{feff}/u, '');
  } catch (cause) {
    const problem = (cause as Error).message;
    throw new Error(`The file "${file}" that --config names cannot be read: ${problem}.`, { cause });
  }
}

function jsonOf(file: string): unknown {
  const text = textOf(file);
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message may quote a secret.
    throw new Error(`${file} is not valid JSON; it must contain one object with settings.`);
  }
}

/** Parses a text for a setting that is not a string. An unparsable text is left to validation. */
function parseSetting(name: keyof typeof configuration.shape, text: string): unknown {
  if (configuration.shape[name].safeParse(text).success) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
