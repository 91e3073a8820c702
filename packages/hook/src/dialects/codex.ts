import type { HookCall } from '../calls/hook-call.ts';
import type { HookEvent } from '../hook-event.ts';
import { noOutput } from '../hook-output.ts';
import type { Dialect } from './dialect.ts';
import { EventFields } from './event-fields.ts';
import { resultStatus } from './result-status.ts';

/**
 * Hooks of Codex, by its reference (https://developers.openai.com/codex/hooks) and the parser of its source
 * (`codex-rs/hooks/src/engine/output_parser.rs`). Codex takes `ask`, `continue: false` and an `allow` without a changed
 * input for a failure of the hook, and runs the call then; so none of these is sent. It has no event for a failed tool
 * and none for the end of a session: `Stop` ends what is still open.
 */
export const codex: Dialect = {
  reportsEndedCalls: false,
  parse(input) {
    const event = new EventFields(input);
    return parseEvent(event.text('hook_event_name'), event);
  },
  openFailureExitCode: 1,
  pass: noOutput,
  deny: (permissionDecisionReason) => ({
    stdout: {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason,
      },
    },
    exitCode: 0,
  }),
  notify: (systemMessage) => ({ stdout: { systemMessage }, exitCode: 0 }),
};

function parseEvent(name: string, event: EventFields): HookEvent {
  switch (name) {
    case 'PreToolUse':
      return { kind: 'before', call: callOf(event) };
    case 'PostToolUse':
      return { kind: 'after', call: callOf(event), status: resultStatus(event.value('tool_response')) };
    case 'UserPromptSubmit':
    case 'Stop':
    case 'SubagentStop':
      return { kind: 'idle', thread: threadOf(event) };
    case 'SessionStart':
      return { kind: 'session-start' };
    default:
      return { kind: 'other' };
  }
}

function threadOf(event: EventFields) {
  const subagentId = event.optionalText('agent_id') ?? '';
  const subagent = subagentId === '' ? undefined : event.optionalText('agent_type');
  return { sessionId: event.text('session_id'), subagentId, subagent };
}

function callOf(event: EventFields): HookCall {
  return {
    ...threadOf(event),
    callId: event.text('tool_use_id'),
    toolName: event.text('tool_name'),
    arguments: event.value('tool_input'),
  };
}
