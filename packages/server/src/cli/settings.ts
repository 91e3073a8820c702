import { readFileSync } from 'node:fs';
import { Option } from 'commander';
import { configuration, type ServerOptions } from '../configuration.ts';
import { secretFrom } from './secret-variables.ts';

/** What each setting is for, in the words of `--help`. */
const descriptions: Record<keyof typeof configuration.shape, string> = {
  host: 'address to listen on',
  port: 'port to listen on; 0 takes a free one',
  database: 'SQLite file, :memory:, or postgres://… (with a password better by variable)',
  databaseConnections: 'connections to PostgreSQL at most',
  maxDatabaseBytes: 'bytes that the database may grow to',
  secret: "the deployment's secret, at least 32 characters; else a file beside the database",
  tenant: 'tenant of the printed key',
  apiKey: 'key to take instead of making one',
  acceptTestKeys: 'whether keys of kind test are taken',
  maxQueuedEvents: 'events that may wait to be stored',
  maxQueuedBytes:
    'bytes of memory that events, checks, other requests and exports may each take until they are answered',
  rateLimit: 'false, or JSON such as {"requestsPerSecond":100,"burst":200}, for each key',
  webhookAllowedRanges: 'JSON array of ranges that webhooks may reach beside public addresses',
  requestTimeoutMs: 'milliseconds that a request may take to arrive, and an export may stand unread',
  docs: 'whether /docs is served',
  console: 'whether /console is served',
  logLevel: 'silent, fatal, error, warn, info, debug or trace',
};

/** Settings that would show in the list of processes; they are taken from the environment or a file only. */
const secretSettings: ReadonlySet<string> = new Set(['secret', 'apiKey']);

const names = Object.keys(configuration.shape) as (keyof typeof configuration.shape)[];

function words(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** The environment variable of a setting: `ACTLOG_MAX_DATABASE_BYTES`. */
function variableOf(name: string): string {
  return `ACTLOG_${words(name)}`;
}

/** The flags of the command: one for each setting that is no secret. */
export function settingOptions(): Option[] {
  return names
    .filter((name) => !secretSettings.has(name))
    .map(
      (name) =>
        new Option(
          `--${words(name).toLowerCase().replaceAll('_', '-')} <value>`,
          `${descriptions[name]} (${variableOf(name)})`,
        ),
    );
}

/** What `--help` says of the settings that have no flag. */
export function secretsHelp(): string {
  const lines = names
    .filter((name) => secretSettings.has(name))
    .map((name) => `  ${variableOf(name).padEnd(16)}${descriptions[name]}`);
  return `\nSecrets, by variable, by the file that the variable with _FILE names, or in the file of --config only:\n${lines.join('\n')}`;
}

/**
 * The settings from flags, then the environment, then the file, then `defaults`.
 *
 * @throws Error when the file, or that of a secret, cannot be read or is not what it must be; nothing of what it holds is
 * in the message.
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
    if (typeof text === 'string' && text !== '') settings[name] = typed(name, text);
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
  // Kubernetes tells every container so of a Service that is called "actlog".
  return name === 'port' && text?.startsWith('tcp://') ? undefined : text;
}

function readSettings(file: string): object {
  const settings = jsonOf(file);
  if (typeof settings === 'object' && settings !== null && !Array.isArray(settings)) return settings;
  throw new Error(`${file} must hold one JSON object with settings.`);
}

/** The text of a file, without the mark that editors of Windows put before it. */
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
    // The parser's own words quote what may be a secret.
    throw new Error(`${file} holds no JSON; it must hold one object with settings.`);
  }
}

/** Text as the type that the setting has; text that has no such form is left for the validation to refuse. */
function typed(name: keyof typeof configuration.shape, text: string): unknown {
  if (configuration.shape[name].safeParse(text).success) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
