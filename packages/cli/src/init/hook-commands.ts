import { resolve } from 'node:path';
import { type AgentName, agents, type HookChange, installHook, removeHook } from '@actlog/hook';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { addExamples } from '../command/client-command.ts';
import { note, print } from '../output/print.ts';

interface HookFlags {
  readonly project?: true;
  readonly user?: true;
  readonly remove?: true;
  readonly dir: string;
  readonly guard?: 'off' | 'enforce';
  readonly onUnavailable?: 'allow' | 'deny';
  readonly holdTimeout?: number;
  readonly afterHold?: 'deny' | 'ask';
  readonly agentId?: string;
  readonly showArguments?: string | true;
  readonly envFile?: string;
  readonly holdPrompts?: true;
}

/** Adds `actlog init claude-code` and the like: one command for each supported coding agent. */
export function addHookCommands(parent: Command): void {
  for (const [name, title] of Object.entries(agents)) {
    const command = parent
      .command(name)
      .description(`record and guard the tools of ${title} by its hooks`)
      .option('--user', 'in the settings of the user (the default)')
      .addOption(new Option('--project', 'in the settings of the project').conflicts('user'))
      .option('--dir <folder>', 'folder of the project', '.')
      .option('--remove', 'remove the hook')
      .addOption(
        new Option(
          '--guard <mode>',
          'check calls before they run (default: ACTLOG_GUARD of the agent)',
        ).choices(['off', 'enforce']),
      )
      .addOption(
        new Option('--on-unavailable <decision>', 'decision without a response of the service').choices([
          'allow',
          'deny',
        ]),
      )
      .option('--hold-timeout <seconds>', 'time to wait for an approval (default: 300)', parseSeconds)
      .addOption(
        new Option('--after-hold <decision>', 'decision when nobody approved in time').choices([
          'deny',
          'ask',
        ]),
      )
      .option(
        '--show-arguments [paths]',
        'arguments for the approver and conditions: all, or paths such as command,user.name',
      )
      .option('--agent-id <id>', 'id of the agent in events')
      .option(
        '--env-file <file>',
        'file with ACTLOG_* variables, for an agent that is not started from a shell',
      )
      .action((flags: HookFlags) => changeHook(name as AgentName, flags));
    if (name === 'claude-code' || name === 'codex') {
      command.option(
        '--hold-prompts',
        "answer the agent's permission prompts in the console or by a command, too",
      );
    }
    addExamples(command, [
      `actlog init ${name} --guard enforce --on-unavailable deny`,
      `actlog init ${name} --guard enforce --on-unavailable deny --show-arguments=command`,
      [`actlog init ${name} --remove`, 'as it was before'],
    ]);
  }
}

function parseSeconds(text: string): number {
  const seconds = text.trim() === '' ? Number.NaN : Number(text);
  if (seconds >= 0 && Number.isFinite(seconds)) return seconds;
  throw new InvalidArgumentError('It must be a number of seconds, such as 60.');
}

async function changeHook(agent: AgentName, flags: HookFlags): Promise<void> {
  const scope = flags.project ? 'project' : 'user';
  const place = { scope, projectFolder: resolve(flags.dir) } as const;
  const { guard, onUnavailable, holdTimeout, afterHold, agentId, showArguments, envFile } = flags;
  const change = flags.remove
    ? removeHook(agent, place)
    : installHook(agent, {
        ...place,
        guard,
        onUnavailable,
        holdTimeoutSeconds: holdTimeout,
        afterHold,
        agentId,
        showArguments: showArguments === true ? '*' : showArguments,
        envFile: envFile === undefined ? undefined : resolve(envFile),
        holdPrompts: flags.holdPrompts,
      });
  await report(agent, change, flags);
}

async function report(
  agent: AgentName,
  { file, outcome, notes }: HookChange,
  flags: HookFlags,
): Promise<void> {
  const unchanged = flags.remove ? 'has no hook of actlog' : 'has the hook already';
  const texts: Readonly<Record<HookChange['outcome'], string>> = {
    installed: 'installed the hook in',
    updated: 'changed the options of the hook in',
    removed: 'removed the hook from',
    unchanged,
  };
  const text = texts[outcome];
  await print(outcome === 'unchanged' ? `✓ ${file} ${text}` : `✓ ${agents[agent]}: ${text} ${file}`);
  for (const line of notes) note(line);
  if (flags.remove || flags.envFile !== undefined) return;
  const unset = ['ACTLOG_BASE_URL', 'ACTLOG_API_KEY'].filter((name) => !process.env[name]?.trim());
  if (unset.length > 0)
    note(`Set ${unset.join(' and ')} where ${agents[agent]} is started, or pass --env-file.`);
}
