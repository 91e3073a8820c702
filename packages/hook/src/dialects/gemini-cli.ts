import { responseStatuses } from '@actlog/recorder/short-lived';
import type { HookCall, HookEvent } from '../calls/hook-call.ts';
import { noOutput } from '../hook-output.ts';
import { type Dialect, EventFields } from './dialect.ts';

/**
 * Hooks of Gemini CLI, by its reference (https://geminicli.com/docs/hooks/reference). Its calls have no id, so the end
 * of a call belongs to the oldest open call of the same tool with the same arguments.
 */
export const geminiCli: Dialect = {
  reportsEndedCalls: false,
  parse(input) {
    const event = new EventFields(input);
    return parseEvent(event.text('hook_event_name'), event);
  },
  openFailureExitCode: 1,
  pass: noOutput,
  deny: (reason, stopReason) => ({
    stdout: {
      decision: 'deny',
      reason,
      ...(stopReason === undefined ? {} : { continue: false, stopReason }),
    },
    exitCode: 0,
  }),
  change: ({ arguments: args }) => ({
    stdout: { hookSpecificOutput: { hookEventName: 'BeforeTool', tool_input: args } },
    exitCode: 0,
  }),
  notify: (systemMessage) => ({ stdout: { systemMessage }, exitCode: 0 }),
};

function parseEvent(name: string, event: EventFields): HookEvent {
  switch (name) {
    case 'BeforeTool':
      return { kind: 'before', call: callOf(event) };
    case 'AfterTool':
      return { kind: 'after', call: callOf(event), status: statusOf(event) };
    case 'BeforeAgent':
    case 'AfterAgent':
      return { kind: 'idle', thread: threadOf(event) };
    case 'SessionStart':
      return { kind: 'session-start' };
    case 'SessionEnd':
      return { kind: 'session-end', sessionId: event.text('session_id') };
    default:
      return { kind: 'other' };
  }
}

function threadOf(event: EventFields) {
  return { sessionId: event.text('session_id'), subagentId: '' };
}

function callOf(event: EventFields): HookCall {
  return {
    ...threadOf(event),
    callId: undefined,
    toolName: event.text('tool_name'),
    arguments: event.value('tool_input'),
  };
}

/** Beginnings and end of Gemini's text for the model about a command that did not succeed, which is no error for it. */
const commandEnds = [
  [/^Command was automatically cancelled because it exceeded the timeout /, responseStatuses.timedOut],
  [/^Command was cancelled by user /, responseStatuses.aborted],
  [
    /(?:^|\n)(?:Exit Code: -?[1-9]\d*|Signal: (?!0|\(none)\S+)(?:\n(?:Signal|Background PIDs|Process Group PGID): .*)*$/,
    responseStatuses.threw,
  ],
] as const;

function statusOf(event: EventFields): number {
  const { error, llmContent } = (event.value('tool_response') ?? {}) as Readonly<Record<string, unknown>>;
  if (error) return responseStatuses.threw;
  const isCommand = event.value('tool_name') === 'run_shell_command' && typeof llmContent === 'string';
  const [, status] = (isCommand && commandEnds.find(([end]) => end.test(llmContent))) || [];
  return status ?? responseStatuses.ok;
}
