import { responseStatuses } from '@actlog/recorder/short-lived';
import type { EndedCall, HookCall, HookEvent } from '../calls/hook-call.ts';
import { noOutput } from '../hook-output.ts';
import { type Dialect, EventFields, failureStatus, resultStatus, threadOf } from './dialect.ts';

/** Tool with which Claude Code returns typed results; a run cannot end otherwise. */
const internalTool = 'StructuredOutput';

/**
 * Hooks of Claude Code, by its reference (https://code.claude.com/docs/en/hooks) and the types of
 * `@anthropic-ai/claude-agent-sdk`. `permissionDecision: "allow"` is never sent, because it would bypass the user's
 * permissions.
 */
export const claudeCode: Dialect = {
  reportsEndedCalls: true,
  parse(input) {
    const event = new EventFields(input);
    const kind = event.text('hook_event_name');
    const isInternal = event.value('tool_name') === internalTool;
    return isInternal ? { kind: 'other' } : parseEvent(kind, event);
  },
  openFailureExitCode: 1,
  pass: noOutput,
  deny: (reason, stopReason) => decide('deny', reason, stopReason),
  ask: (reason) => decide('ask', reason),
  change: ({ arguments: updatedInput, notice: additionalContext }) => ({
    stdout: { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput, additionalContext } },
    exitCode: 0,
  }),
  prompt: {
    acceptsChanges: true,
    allow: (change) => answer({ behavior: 'allow', ...(change && { updatedInput: change.arguments }) }),
    deny: (message) => answer({ behavior: 'deny', message }),
  },
  notify: (systemMessage) => ({ stdout: { systemMessage }, exitCode: 0 }),
};

/** Creates the answer to a permission prompt. */
function answer(decision: object) {
  return { stdout: { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } }, exitCode: 0 };
}

function parseEvent(name: string, event: EventFields): HookEvent {
  switch (name) {
    case 'PreToolUse':
      return { kind: 'before', call: callOf(event, event) };
    case 'PermissionRequest':
      return { kind: 'prompt', call: callOf(event, event) };
    case 'PostToolUse':
      return {
        kind: 'after',
        call: callOf(event, event),
        status: resultStatus(event.value('tool_response')),
      };
    case 'PostToolUseFailure':
      return { kind: 'after', call: callOf(event, event), status: statusOfFailure(event) };
    case 'PostToolBatch':
      return { kind: 'turn', calls: callsOf(event) };
    case 'UserPromptSubmit':
    case 'SubagentStop':
      return { kind: 'idle', thread: threadOf(event) };
    case 'SessionStart':
      return { kind: 'session-start' };
    case 'SessionEnd':
      return { kind: 'session-end', sessionId: event.text('session_id') };
    default:
      return { kind: 'other' };
  }
}

function callOf(event: EventFields, toolUse: EventFields): HookCall {
  return {
    ...threadOf(event),
    // Other agents that start the hooks of Claude Code have none.
    callId: toolUse.optionalText('tool_use_id'),
    toolName: toolUse.text('tool_name'),
    arguments: toolUse.value('tool_input'),
  };
}

function callsOf(event: EventFields): EndedCall[] {
  return event
    .list('tool_calls')
    .filter((toolUse) => toolUse.value('tool_name') !== internalTool)
    .map((toolUse) => ({
      call: callOf(event, toolUse),
      status: statusWithoutHook(toolUse.value('tool_response')),
    }));
}

function statusOfFailure(event: EventFields): number {
  return event.value('is_interrupt') === true
    ? responseStatuses.aborted
    : failureStatus(String(event.value('error')));
}

/** Returns the status of a call without a hook: an unknown tool, or invalid arguments. */
function statusWithoutHook(response: unknown): number {
  if (typeof response !== 'string' || !response.startsWith('<tool_use_error>')) return responseStatuses.ok;
  return response.includes('No such tool available')
    ? responseStatuses.unknownTool
    : responseStatuses.invalidArguments;
}

function decide(permissionDecision: 'deny' | 'ask', permissionDecisionReason: string, stopReason?: string) {
  const hookEventName = 'PreToolUse';
  return {
    stdout: {
      ...(stopReason === undefined ? {} : { continue: false, stopReason }),
      hookSpecificOutput: { hookEventName, permissionDecision, permissionDecisionReason },
    },
    exitCode: 0,
  };
}
