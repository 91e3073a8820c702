import { realpathSync } from 'node:fs';
import type { AgentName } from '../agents.ts';
import type { InstallHookOptions } from './install-hook-options.ts';

/** Command line that an agent starts for each event. */
export interface HookCommand {
  readonly command: string;
  /** Advice about the command. */
  readonly notes: readonly string[];
}

/** Returns the command line of a hook. */
export function hookCommand(
  agent: AgentName,
  options: InstallHookOptions,
  also: readonly string[] = [],
): HookCommand {
  const script = scriptOf(options);
  // The folder of npx is temporary.
  const isInstalled = script !== undefined && !/[\\/]_npx[\\/]/.test(script);
  const wanted = options.command ?? (isInstalled ? 'absolute' : 'npx');
  const usesNpx = wanted === 'npx' || script === undefined;
  const program = usesNpx ? ['npx', '--yes', 'actlog'] : [process.execPath, script];
  return {
    command: [...program, 'hook', agent, ...flagsOf(options), ...also].map(quoted).join(' '),
    notes: usesNpx
      ? [
          'The hook is started by npx, which adds about 300 ms to every call: run "npm install --global actlog" and then "actlog init" again.',
        ]
      : [],
  };
}

/** Returns `true` for the command line of a hook that this package installed for an agent. */
export function isHookCommand(agent: AgentName, command: unknown): boolean {
  if (typeof command !== 'string') return false;
  const words = command.replaceAll(/["']/g, '');
  return new RegExp(`(?:actlog|[\\\\/]bin\\.[jt]s) hook ${agent}(?: |$)`).test(words);
}

/** Returns the path of the command `actlog`; undefined if another program installs the hook, which knows none. */
function scriptOf({ script = process.argv[1] }: InstallHookOptions): string | undefined {
  const path = script && realPathOf(script);
  return path && /[\\/](?:actlog|bin\.[jt]s)$/.test(path) ? path : undefined;
}

/** A link in `node_modules/.bin` may go; what it points to stays until the package does. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function flagsOf(options: InstallHookOptions): string[] {
  const flags: readonly (readonly [string, string | number | undefined])[] = [
    ['--guard', options.guard],
    ['--on-unavailable', options.onUnavailable],
    ['--check-timeout', options.checkTimeoutSeconds],
    ['--hold-timeout', options.holdTimeoutSeconds],
    ['--after-hold', options.afterHold],
    ['--show-arguments', options.showArguments],
    ['--agent-id', options.agentId],
    ['--variables', options.envFile],
  ];
  return flags.flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (name !== '--show-arguments') return [name, String(value)];
    return [value === '*' ? name : `${name}=${value}`];
  });
}

/** Quotes an argument for the shells that agents start commands with. */
function quoted(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  // In cmd.exe and PowerShell, a backslash is no escape.
  if (process.platform === 'win32') return `"${text.replaceAll('"', '')}"`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}
