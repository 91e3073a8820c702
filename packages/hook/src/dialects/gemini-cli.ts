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
      return { kind: 'after', call: callOf(event), status: statusOf(event.value('tool_response')) };
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

function statusOf(response: unknown): number {
  const { error } = (response ?? {}) as { readonly error?: unknown };
  return error ? responseStatuses.threw : responseStatuses.ok;
}
