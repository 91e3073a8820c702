import { realpathSync } from 'node:fs';
import type { AgentName } from '../dialects/dialect.ts';

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

/** Resolves links: one in `node_modules/.bin` may be removed before the package that it points to. */
export function realPathOf(path: string): string {
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
  // In cmd.exe and PowerShell, a backslash is not an escape.
  if (process.platform === 'win32') return `"${text.replaceAll('"', '')}"`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Place of the settings that a hook is installed in. */
export interface HookPlace {
  /** `user` for all projects of the user, `project` for one. Default: `user`. */
  readonly scope?: 'user' | 'project' | undefined;
  /** Folder of the project. Default: the working directory. */
  readonly projectFolder?: string | undefined;
  /** Home folder of the user. Default: from the system. */
  readonly homeFolder?: string | undefined;
}

/** Options of `installHook`. Options of the hook that are omitted are read from the environment when it runs. */
export interface InstallHookOptions extends HookPlace {
  /** `enforce` checks calls before they run. Default: `ACTLOG_GUARD` of the agent, otherwise `off`. */
  readonly guard?: 'off' | 'enforce' | undefined;
  /** Decision without a response of the service. Default: `ACTLOG_GUARD_ON_UNAVAILABLE` of the agent. */
  readonly onUnavailable?: 'allow' | 'deny' | undefined;
  /** Time limit of a check, in seconds. Default 5. */
  readonly checkTimeoutSeconds?: number | undefined;
  /** Time to wait for a person's approval, in seconds. The agent's time limit is set to match. Default 300. */
  readonly holdTimeoutSeconds?: number | undefined;
  /** Decision when nobody approved in time; `ask` shows the agent's prompt. Default: `deny`. */
  readonly afterHold?: 'deny' | 'ask' | undefined;
  /** Id of the agent in events. Default: `ACTLOG_AGENT_ID` of the agent, otherwise the agent's name. */
  readonly agentId?: string | undefined;
  /**
   * Arguments that the approver and conditions see: `*` for all, or paths such as `command,user.name`. Default: none.
   */
  readonly showArguments?: string | undefined;
  /**
   * `true` lets people answer the agent's permission prompts elsewhere, for Claude Code and Codex: each is a held action,
   * until somebody decides, or the prompt is answered in the agent. Default: `false`.
   */
  readonly holdPrompts?: boolean | undefined;
  /** Absolute path of a file with `ACTLOG_*` variables, for agents that are not started from a shell. */
  readonly envFile?: string | undefined;
  /**
   * `absolute` starts the installed command by its path, `npx` by `npx actlog`, which works on other machines too but
   * takes 300 ms more for each event. Default: `absolute`, unless this process was itself started by npx.
   */
  readonly command?: 'absolute' | 'npx' | undefined;
  /** Path of the command `actlog`. Default: the script of this process. */
  readonly script?: string | undefined;
}
