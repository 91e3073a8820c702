import { parseExactJson, responseStatuses } from '@actlog/recorder/short-lived';
import type { HookCall, HookEvent } from '../calls/hook-call.ts';
import { noOutput } from '../hook-output.ts';
import { type Dialect, EventFields, failureStatus, InvalidInputError } from './dialect.ts';

/**
 * Hooks of GitHub Copilot CLI and its cloud agent, by their reference
 * (https://docs.github.com/en/copilot/reference/hooks-reference), in the camelCase format, whose tool names are those
 * that the model sees. Its events do not contain their names, so the command line does. Its calls have no id, as those
 * of Gemini CLI.
 */
export const copilot: Dialect = {
  reportsEndedCalls: false,
  parse(input, eventName) {
    if (eventName === undefined) {
      throw new InvalidInputError(
        'The name of the event is missing: pass it, as in `actlog hook copilot --event preToolUse`.',
      );
    }
    return parseEvent(eventName, new EventFields(input));
  },
  openFailureExitCode: 0,
  pass: noOutput,
  deny: (reason) => decide('deny', reason),
  ask: (reason) => decide('ask', reason),
  change: ({ arguments: modifiedArgs, notice: additionalContext }) => ({
    stdout: { modifiedArgs, additionalContext },
    exitCode: 0,
  }),
};

function parseEvent(name: string, event: EventFields): HookEvent {
  switch (name) {
    case 'preToolUse':
      return { kind: 'before', call: callOf(event) };
    case 'postToolUse':
      return { kind: 'after', call: callOf(event), status: resultStatusOf(event) };
    case 'postToolUseFailure':
      return { kind: 'after', call: callOf(event), status: failureStatusOf(event) };
    case 'userPromptSubmitted':
    case 'agentStop':
      return { kind: 'idle', thread: { sessionId: event.text('sessionId'), subagentId: '' } };
    case 'sessionStart':
      return { kind: 'session-start' };
    case 'sessionEnd':
      return { kind: 'session-end', sessionId: event.text('sessionId') };
    default:
      return { kind: 'other' };
  }
}

const shells: readonly unknown[] = ['bash', 'powershell'];
/** Last line that Copilot adds to the output of a command. */
const exitCode = /<shellId: \S+ completed with exit code (-?\d+)>\s*$/;

/** Returns the status of a call with a result. For Copilot, a command that fails is one. */
function resultStatusOf(event: EventFields): number {
  if (!shells.includes(event.value('toolName'))) return responseStatuses.ok;
  const { textResultForLlm } = (event.value('toolResult') ?? {}) as { readonly textResultForLlm?: unknown };
  const code = exitCode.exec(String(textResultForLlm))?.[1] ?? '0';
  return Number(code) === 0 ? responseStatuses.ok : responseStatuses.threw;
}

/** Start of Copilot's text about arguments that do not match the schema of a tool, with the first path. */
const invalidArguments = /^(?:Multiple validation errors:\n- )?"[^"\n]*": /;

function failureStatusOf(event: EventFields): number {
  const error = String(event.value('error'));
  if (error === `Tool '${event.value('toolName')}' does not exist.`) return responseStatuses.unknownTool;
  return invalidArguments.test(error) ? responseStatuses.invalidArguments : failureStatus(error);
}

function callOf(event: EventFields): HookCall {
  return {
    sessionId: event.text('sessionId'),
    subagentId: '',
    callId: undefined,
    toolName: event.text('toolName'),
    arguments: parsed(event.value('toolArgs')),
  };
}

/** Returns the arguments, which some versions send as a string with JSON. */
function parsed(args: unknown): unknown {
  if (typeof args !== 'string') return args;
  try {
    return parseExactJson(args);
  } catch {
    return args;
  }
}

function decide(permissionDecision: 'deny' | 'ask', permissionDecisionReason: string) {
  return { stdout: { permissionDecision, permissionDecisionReason }, exitCode: 0 };
}
