import { responseStatuses } from '@actlog/recorder/short-lived';
import type { HookCall, HookEvent } from '../calls/hook-call.ts';
import { noOutput } from '../hook-output.ts';
import { type Dialect, EventFields, resultStatus } from './dialect.ts';

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
      return { kind: 'after', call: callOf(event), status: responseStatusOf(event.value('tool_response')) };
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

/** The end of a command in Codex's text for the model, before the output of the command itself. */
const exitCode = /^(?:Chunk ID: .*\n)?(?:Wall time: .*\n)?(?:Exit code:|Process exited with code) (-?\d+)\n/;
const timedOut = /^command timed out after \d+ /;
/** Exit code that Codex gives a command which it has stopped after its time limit. */
const timeoutExitCode = 124;

interface CommandResponse {
  readonly exit_code?: unknown;
  readonly exitCode?: unknown;
  readonly timed_out?: unknown;
  readonly success?: unknown;
  readonly metadata?: CommandResponse | null;
}

/**
 * Returns the status of a tool's response. Codex reports the end of a command as fields, as a string with JSON, or as
 * plain text. One version has only the output, which does not say if the command failed.
 */
function responseStatusOf(response: unknown): number {
  if (typeof response === 'string') {
    if (timedOut.test(response)) return responseStatuses.timedOut;
    const code = exitCode.exec(response)?.[1];
    if (code !== undefined) return exitStatus(Number(code));
  }
  const fields = typeof response === 'string' ? objectIn(response) : response;
  const { metadata, ...own } = (fields ?? {}) as CommandResponse;
  const { exit_code, exitCode: code = exit_code, timed_out, success } = { ...metadata, ...own };
  if (timed_out === true) return responseStatuses.timedOut;
  if (typeof code === 'number') return exitStatus(code);
  return success === false ? responseStatuses.threw : resultStatus(fields);
}

function exitStatus(code: number): number {
  if (code === timeoutExitCode) return responseStatuses.timedOut;
  return code === 0 ? responseStatuses.ok : responseStatuses.threw;
}

function objectIn(text: string): unknown {
  try {
    return text.startsWith('{') ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
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
