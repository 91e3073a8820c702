import { responseStatuses } from '@actlog/recorder/short-lived';
import type { HookCall, HookEvent } from '../calls/hook-call.ts';
import { type Dialect, EventFields, failureStatus, fieldsStatus } from './dialect.ts';

/** Statuses by `failure_type` of `postToolUseFailure`. */
const failureStatuses: ReadonlyMap<unknown, number> = new Map([
  ['timeout', responseStatuses.timedOut],
  ['permission_denied', responseStatuses.denied],
]);

/**
 * Hooks of Cursor, by its reference (https://cursor.com/docs/hooks). `preToolUse` covers every tool of the agent; the
 * reference says that its `ask` is accepted but not enforced, so it is not sent. Cursor takes an empty output for a block.
 */
export const cursor: Dialect = {
  reportsEndedCalls: true,
  parse(input) {
    const event = new EventFields(input);
    return parseEvent(event.text('hook_event_name'), event);
  },
  openFailureExitCode: 1,
  pass: { stdout: { permission: 'allow' }, exitCode: 0 },
  proceed: { stdout: { continue: true }, exitCode: 0 },
  change: ({ arguments: args }) => ({ stdout: { permission: 'allow', updated_input: args }, exitCode: 0 }),
  deny: (reason) => ({
    stdout: { permission: 'deny', user_message: reason, agent_message: reason },
    exitCode: 0,
  }),
};

function parseEvent(name: string, event: EventFields): HookEvent {
  switch (name) {
    case 'preToolUse':
      return { kind: 'before', call: callOf(event) };
    case 'postToolUse':
      return { kind: 'after', call: callOf(event), status: fieldsStatus(event.value('tool_output')) };
    case 'postToolUseFailure':
      return { kind: 'after', call: callOf(event), status: statusOfFailure(event) };
    case 'beforeSubmitPrompt':
    case 'stop':
      return { kind: 'idle', thread: { sessionId: sessionOf(event), subagentId: '' } };
    case 'sessionStart':
      return { kind: 'session-start' };
    case 'sessionEnd':
      return { kind: 'session-end', sessionId: sessionOf(event) };
    default:
      return { kind: 'other' };
  }
}

/** Returns the conversation, which events about a session call `session_id`. */
function sessionOf(event: EventFields): string {
  return event.text('conversation_id', 'session_id');
}

function callOf(event: EventFields): HookCall {
  return {
    sessionId: sessionOf(event),
    subagentId: '',
    callId: event.text('tool_use_id'),
    toolName: event.text('tool_name'),
    arguments: event.value('tool_input'),
  };
}

function statusOfFailure(event: EventFields): number {
  if (event.value('is_interrupt') === true) return responseStatuses.aborted;
  return (
    failureStatuses.get(event.value('failure_type')) ?? failureStatus(String(event.value('error_message')))
  );
}
