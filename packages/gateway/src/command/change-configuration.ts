import { homedir } from 'node:os';
import { posix, resolve, win32 } from 'node:path';
import { type ChangedText, ConfigurationFile } from '../wrap/configuration-text.ts';
import type { GatewayFlags } from './gateway-flags.ts';

/** Variables that the gateway needs, and that programs of a desktop do not inherit from a shell. */
const variableNames = [
  'ACTLOG_BASE_URL',
  'ACTLOG_API_KEY',
  'ACTLOG_TENANT',
  'ACTLOG_SPOOL_DIR',
  'ACTLOG_ENVIRONMENT',
  'ACTLOG_GUARD',
  'ACTLOG_GUARD_ON_UNAVAILABLE',
  'ACTLOG_PINS_DIR',
] as const;

const required = ['ACTLOG_BASE_URL', 'ACTLOG_API_KEY'] as const;

/**
 * Puts the gateway into the configuration of a client, or takes it out.
 *
 * @returns the exit code
 * @throws Error when the file is missing or no configuration, or does not have the named server
 */
export function changeConfiguration(flags: GatewayFlags): number {
  const { wrap, unwrap, server, print } = flags;
  const isWrapping = wrap !== undefined;
  const file = new ConfigurationFile(configurationPath(wrap ?? unwrap ?? '', thisMachine()));
  const names = server === undefined ? file.names : file.names.filter((name) => name === server);
  if (names.length === 0 && server !== undefined) {
    throw new Error(
      `${file.path} has no server ${JSON.stringify(server)}: it has ${file.names.join(', ') || 'none'}.`,
    );
  }
  const variables = isWrapping ? variablesForGateway() : {};
  const changed = isWrapping
    ? file.wrapped(names, { options: optionsForGateway(flags), variables })
    : file.unwrapped(names);
  report(file.path, changed);
  if (print) process.stdout.write(withoutSecret(changed.text, variables.ACTLOG_API_KEY));
  else if (isWrapping) file.writeWrapped(changed);
  else file.writeUnwrapped(changed);
  const isChanged = changed.servers.some(({ outcome }) => outcome !== 'unchanged');
  if (isChanged && !print) process.stderr.write('Restart the client to use the changed configuration.\n');
  return 0;
}

function variablesForGateway(): Record<string, string> {
  const missing = required.filter((name) => !process.env[name]?.trim());
  if (missing.length > 0) {
    throw new Error(
      `${missing.join(' and ')} must be set: the gateway gets ${missing.length > 1 ? 'them' : 'it'} from the configuration.`,
    );
  }
  const entries = variableNames.flatMap((name) => {
    const value = process.env[name]?.trim();
    return value ? [[name, value] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** Returns the options that the gateway itself gets. */
function optionsForGateway(flags: GatewayFlags): string[] {
  const { agent, guard, onUnavailable, holdSeconds, toolPrefix, showArguments, announce } = flags;
  const { onChangedTool, deniedTools, pin } = flags;
  const values = {
    agent,
    guard,
    'on-unavailable': onUnavailable,
    'hold-seconds': holdSeconds,
    'tool-prefix': toolPrefix,
    'on-changed-tool': onChangedTool,
    'denied-tools': deniedTools,
    // Programs of a desktop have another current folder.
    pin: pin === undefined ? undefined : resolve(pin),
  };
  const options = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
  const shown = showArguments === true ? '--show-arguments' : `--show-arguments=${showArguments}`;
  return [...options, ...(showArguments === undefined ? [] : [shown]), ...(announce ? ['--announce'] : [])];
}

function report(path: string, { servers }: ChangedText): void {
  process.stderr.write(`${path}\n`);
  if (servers.length === 0) process.stderr.write('  no servers\n');
  for (const { name, outcome, reason } of servers) {
    process.stderr.write(`  ${name}: ${outcome}${reason ? `, ${reason}` : ''}\n`);
  }
}

function withoutSecret(text: string, secret: string | undefined): string {
  return secret ? text.replaceAll(JSON.stringify(secret), '"…"') : text;
}

/** Facts of a machine that decide where clients keep their configuration. */
interface Machine {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Returns the facts of this machine. */
function thisMachine(): Machine {
  return { platform: process.platform, home: homedir(), env: process.env };
}

/**
 * Returns the path of a client's configuration: the file itself for anything but the name of a client.
 *
 * Claude Desktop: `claude_desktop_config.json`. Cursor: `~/.cursor/mcp.json`. VS Code: `mcp.json` of the user.
 */
export function configurationPath(target: string, { platform, home, env }: Machine): string {
  const { join } = platform === 'win32' ? win32 : posix;
  const settings = () => {
    if (platform === 'darwin') return join(home, 'Library', 'Application Support');
    if (platform === 'win32') return env.APPDATA || join(home, 'AppData', 'Roaming');
    return env.XDG_CONFIG_HOME || join(home, '.config');
  };
  switch (target) {
    case 'claude-desktop':
      return join(settings(), 'Claude', 'claude_desktop_config.json');
    case 'cursor':
      return join(home, '.cursor', 'mcp.json');
    case 'vscode':
      return join(settings(), 'Code', 'User', 'mcp.json');
    default:
      return target;
  }
}
