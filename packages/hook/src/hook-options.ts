import { readFileSync } from 'node:fs';
import { parseArgs, parseEnv } from 'node:util';
import { decodeText, type GuardOptions, showArgumentsOf } from '@actlog/recorder/short-lived';
import { type AgentName, agents, isAgentName } from './dialects/dialect.ts';

/** Error thrown when the command line of a hook is invalid. */
export class InvalidHookOptionsError extends Error {
  override readonly name = 'InvalidHookOptionsError';
}

/** Options of one hook process. */
export interface HookOptions {
  readonly agent: AgentName;
  /** Name of the event, for agents whose JSON does not contain it. */
  readonly eventName: string | undefined;
  /** Id of the agent in events. Default: `ACTLOG_AGENT_ID`, otherwise the name of the agent. */
  readonly agentId: string;
  readonly guard: GuardOptions;
  /** Decision about a call that nobody approved in time. */
  readonly afterHold: 'deny' | 'ask';
}

/** Usage of the command. */
export const usage = `Usage: actlog hook AGENT [options] < EVENT

Records and guards the tool calls of a coding agent, which starts this command for each hook event with the event as
JSON on stdin. "actlog init AGENT" installs it.

Agents: ${Object.keys(agents).join(', ')}

Options:
  --guard off|enforce              check calls before they run (default: ACTLOG_GUARD, else off)
  --on-unavailable allow|deny      decision without a response of the service (default: ACTLOG_GUARD_ON_UNAVAILABLE)
  --check-timeout SECONDS          time limit of a check (default: 5)
  --hold-timeout SECONDS           time to wait for a person's approval (default: 300)
  --after-hold deny|ask            decision when nobody approved in time (default: deny); ask shows the agent's prompt
  --show-arguments[=PATH,...]      show the approver and conditions all arguments, or those at paths such as command
  --agent-id ID                    id of the agent in events (default: ACTLOG_AGENT_ID, else the name of the agent)
  --variables FILE                  file with ACTLOG_* variables that the environment does not have
  --event NAME                     name of the event, for agents whose events do not contain it (copilot)

Examples:
  actlog hook claude-code --guard enforce --on-unavailable deny
  actlog hook copilot --event preToolUse
`;

const flags = {
  guard: { type: 'string' },
  'on-unavailable': { type: 'string' },
  'check-timeout': { type: 'string' },
  'hold-timeout': { type: 'string' },
  'after-hold': { type: 'string' },
  'agent-id': { type: 'string' },
  'show-arguments': { type: 'string' },
  // Not `env-file`, which is an option of Node at any position.
  variables: { type: 'string' },
  event: { type: 'string' },
} as const;

/**
 * Parses the arguments after `actlog hook`, and adds the variables of `--variables` to the environment.
 *
 * @throws InvalidHookOptionsError when one is invalid; the message names it, the problem and the fix
 */
export function parseHookOptions(args: readonly string[]): HookOptions {
  const { values, positionals } = parse(args);
  const [agent, ...rest] = positionals;
  if (!isAgentName(agent)) {
    throw invalid(
      `AGENT must be one of ${Object.keys(agents).join(', ')}, got ${JSON.stringify(agent ?? '')}.`,
    );
  }
  if (rest.length > 0) throw invalid(`Unexpected argument ${JSON.stringify(rest[0])}: pass one agent.`);
  if (values.variables !== undefined) addVariables(values.variables);
  return {
    agent,
    eventName: values.event,
    agentId: values['agent-id'] || process.env.ACTLOG_AGENT_ID?.trim() || agent,
    guard: {
      mode: choice(['off', 'enforce'], '--guard', values.guard),
      onUnavailable: choice(['allow', 'deny'], '--on-unavailable', values['on-unavailable']),
      timeoutMs: milliseconds('--check-timeout', values['check-timeout'], 0.001),
      holdTimeoutMs: milliseconds('--hold-timeout', values['hold-timeout'], 0),
      showArguments: shown(values['show-arguments']),
    },
    afterHold: choice(['deny', 'ask'], '--after-hold', values['after-hold']) ?? 'deny',
  };
}

function parse(args: readonly string[]) {
  try {
    // Its value is optional, which `parseArgs` does not know.
    const given = args.map((arg) => (arg === '--show-arguments' ? `${arg}=*` : arg));
    return parseArgs({ args: given, options: flags, allowPositionals: true });
  } catch (error) {
    throw invalid((error as Error).message);
  }
}

function choice<const Value extends string>(
  values: readonly Value[],
  flag: string,
  given: string | undefined,
): Value | undefined {
  if (given === undefined) return undefined;
  const found = values.find((value) => value === given);
  if (found) return found;
  throw invalid(`${flag} must be ${values.join(' or ')}, got ${JSON.stringify(given)}.`);
}

function shown(paths: string | undefined): GuardOptions['showArguments'] {
  if (paths === undefined) return undefined;
  try {
    return showArgumentsOf(paths);
  } catch (error) {
    throw invalid(`--show-arguments: ${(error as Error).message}`);
  }
}

function milliseconds(flag: string, given: string | undefined, minimum: number): number | undefined {
  if (given === undefined) return undefined;
  const seconds = given.trim() === '' ? Number.NaN : Number(given);
  if (seconds >= minimum && seconds < 2 ** 31 / 1000) return seconds * 1000;
  throw invalid(`${flag} must be a number of seconds, got ${JSON.stringify(given)}.`);
}

/** Adds the variables of a file that are not set. */
function addVariables(file: string): void {
  let text: string;
  try {
    text = decodeText(readFileSync(file));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw invalid(
      `--variables ${file} cannot be read (${code}): pass the path of a file with ACTLOG_* variables.`,
    );
  }
  for (const [name, value] of Object.entries(parseEnv(text))) {
    if (name.startsWith('ACTLOG_') && !process.env[name]?.trim()) process.env[name] = value;
  }
}

function invalid(message: string): InvalidHookOptionsError {
  return new InvalidHookOptionsError(message);
}
