import {
  type ApprovedChange,
  exitStatus,
  mcpErrorStatus,
  responseStatuses,
} from '@actlog/recorder/short-lived';
import type { HookEvent } from '../calls/hook-call.ts';
import type { HookOutput } from '../hook-output.ts';

/** Protocol of an agent's hooks: events in, decisions out. */
export interface Dialect {
  /**
   * `true` if the agent reports ended calls once more, so that they are remembered until the next prompt: Claude Code with
   * all calls of a turn, Cursor as the failure of a call that was denied.
   */
  readonly reportsEndedCalls: boolean;
  /**
   * Parses an event.
   *
   * @param input - JSON from the agent
   * @param eventName - name given on the command line, for agents whose JSON does not contain it
   * @throws InvalidInputError when the input is not of the documented form
   */
  parse(input: unknown, eventName: string | undefined): HookEvent;
  /**
   * Exit code of a hook before a tool that failed, if the call still runs: 1, except for agents that deny a call for
   * any other exit code than 0.
   */
  readonly openFailureExitCode: 0 | 1;
  /** Output that lets a call through to the agent's permissions. */
  readonly pass: HookOutput;
  /** Output for all other events, if the agent expects one. */
  readonly proceed?: HookOutput;
  /**
   * Creates the output that denies a call.
   *
   * @param reason - text for the model
   * @param stopReason - text for the user, if the run must end; undefined if it continues
   */
  deny(reason: string, stopReason?: string): HookOutput;
  /**
   * Creates the output that makes the agent prompt the user. Missing if the agent has no such decision; the call is
   * then denied.
   */
  ask?(reason: string): HookOutput;
  /**
   * Creates the output that makes the agent run a call with the arguments that an approver changed, by the agent's own
   * permissions. Missing if the agent cannot; an approval of changed arguments is then refused.
   */
  change?(change: ApprovedChange): HookOutput;
  /** Outputs that answer the agent's permission prompt. Missing if the agent has none that a hook can answer. */
  readonly prompt?: {
    /** `true` if the agent takes changed arguments with the permission. */
    readonly acceptsChanges: boolean;
    allow(change: ApprovedChange | undefined): HookOutput;
    deny(reason: string): HookOutput;
  };
  /** Creates the output that shows a message to the user at the start of a session. Missing if the agent cannot. */
  notify?(message: string): HookOutput;
}

/** Error thrown when an agent's event is not of the documented form. The message never contains its values. */
export class InvalidInputError extends Error {
  override readonly name = 'InvalidInputError';
}

/** Fields of an agent's event, validated as they are read. */
export class EventFields {
  readonly #fields: Readonly<Record<string, unknown>>;

  /** @throws InvalidInputError when the input is not a JSON object */
  constructor(input: unknown) {
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      throw new InvalidInputError(
        'The hook event must be a JSON object on stdin: start this command as a hook.',
      );
    }
    this.#fields = input as Record<string, unknown>;
  }

  /** Returns any value. */
  value(name: string): unknown {
    return this.#fields[name];
  }

  /** Returns a string that is not empty; undefined for anything else. */
  optionalText(name: string): string | undefined {
    const value = this.#fields[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  }

  /**
   * Returns the first text that is not empty.
   *
   * @throws InvalidInputError when there is none
   */
  text(...names: readonly string[]): string {
    for (const name of names) {
      const text = this.optionalText(name);
      if (text !== undefined) return text;
    }
    throw new InvalidInputError(
      `The hook event has no ${names.join(' or ')}: the agent's version may be older or newer than this hook supports.`,
    );
  }

  /** Returns the objects of a list; an empty list for anything else. */
  list(name: string): EventFields[] {
    const value = this.#fields[name];
    return Array.isArray(value)
      ? value.filter((item) => typeof item === 'object' && item !== null).map((item) => new EventFields(item))
      : [];
  }
}

/** Returns the status of a result, which says that the tool failed only in the format of the Model Context Protocol. */
export function resultStatus(result: unknown): number {
  const { isError, content } = (result ?? {}) as { readonly isError?: unknown; readonly content?: unknown };
  if (isError !== true || !Array.isArray(content)) return responseStatuses.ok;
  const [first] = content as readonly ({ readonly text?: unknown } | null | undefined)[];
  return failureStatus(String(first?.text));
}

interface CommandResponse {
  readonly exit_code?: unknown;
  readonly exitCode?: unknown;
  readonly timed_out?: unknown;
  readonly success?: unknown;
  readonly metadata?: CommandResponse | null;
}

/** Returns the status of a result with fields, also as JSON: the end of a command, or the format of MCP. */
export function fieldsStatus(response: unknown): number {
  const fields = typeof response === 'string' ? objectIn(response) : response;
  const { metadata, ...own } = (fields ?? {}) as CommandResponse;
  const { exit_code, exitCode: code = exit_code, timed_out, success } = { ...metadata, ...own };
  if (timed_out === true) return responseStatuses.timedOut;
  if (typeof code === 'number') return exitStatus(code);
  return success === false ? responseStatuses.threw : resultStatus(fields);
}

/** Returns the object of a JSON text; undefined for any other text. */
export function objectIn(text: string): unknown {
  try {
    return text.startsWith('{') ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the status of a failed tool from the text of its error. */
export function failureStatus(text: string): number {
  return mcpErrorStatus(text) ?? responseStatuses.threw;
}

/** Coding agents whose hooks are supported, with their names for people. */
export const agents = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  'gemini-cli': 'Gemini CLI',
  cursor: 'Cursor',
  copilot: 'GitHub Copilot CLI',
} as const;

/** Name of a supported coding agent, as on the command line. */
export type AgentName = keyof typeof agents;

/** Returns `true` for the name of a supported coding agent. */
export function isAgentName(name: unknown): name is AgentName {
  return typeof name === 'string' && Object.hasOwn(agents, name);
}

/** Returns the thread of an event with the fields of Claude Code, which the events of Codex have too. */
export function threadOf(event: EventFields) {
  const subagentId = event.optionalText('agent_id') ?? '';
  const subagent = subagentId === '' ? undefined : event.optionalText('agent_type');
  return { sessionId: event.text('session_id'), subagentId, subagent };
}
