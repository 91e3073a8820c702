import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { exitStatus, responseStatuses } from '@actlog/recorder/short-lived';
import type { HookCall, HookEvent } from '../calls/hook-call.ts';
import { noOutput } from '../hook-output.ts';
import { type Dialect, EventFields, fieldsStatus, objectIn, threadOf } from './dialect.ts';

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
  // Only with `allow` does Codex take a changed input. Its own approvals apply all the same.
  change: ({ arguments: updatedInput, notice: additionalContext }) => ({
    stdout: {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'allow',
        updatedInput,
        additionalContext,
      },
    },
    exitCode: 0,
  }),
  // Codex takes a changed input of a permission for a failure of the hook.
  prompt: {
    acceptsChanges: false,
    allow: () => answer({ behavior: 'allow' }),
    deny: (message) => answer({ behavior: 'deny', message }),
  },
  notify: (systemMessage) => ({ stdout: { systemMessage }, exitCode: 0 }),
};

/** Creates the answer to a permission prompt. */
function answer(decision: object) {
  return { stdout: { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } }, exitCode: 0 };
}

/** Returns the call of a permission prompt, which has no id. */
function promptedCallOf(event: EventFields): HookCall {
  return {
    ...threadOf(event),
    callId: undefined,
    toolName: event.text('tool_name'),
    arguments: event.value('tool_input'),
  };
}

function parseEvent(name: string, event: EventFields): HookEvent {
  switch (name) {
    case 'PreToolUse':
      return { kind: 'before', call: callOf(event) };
    case 'PermissionRequest':
      return { kind: 'prompt', call: promptedCallOf(event) };
    case 'PostToolUse':
      return { kind: 'after', call: callOf(event), status: statusOf(event) };
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

/** Returns the status of a call that has ended. */
function statusOf(event: EventFields): number {
  const response = event.value('tool_response');
  const status = responseStatusOf(response);
  // Codex 0.163 passes on only the output of a command. Its exit code is already in the transcript.
  if (typeof response !== 'string' || status !== responseStatuses.ok || exitCode.test(response))
    return status;
  return transcribedStatus(event) ?? status;
}

/** Bytes at the end of a transcript that are searched for the end of a command. */
const transcriptBytes = 1 << 20;

/** Returns the status of a command from the transcript of its session; undefined if the transcript does not have it. */
function transcribedStatus(event: EventFields): number | undefined {
  const path = event.optionalText('transcript_path');
  if (path === undefined) return undefined;
  const callId = event.text('tool_use_id');
  const line = endOf(path).findLast((text) => text.includes('"CommandExecution"') && text.includes(callId));
  const { payload } = (objectIn(line ?? '') ?? {}) as TranscriptLine;
  const { type, id, exit_code } = payload?.item ?? {};
  return type === 'CommandExecution' && id === callId && typeof exit_code === 'number'
    ? exitStatus(exit_code)
    : undefined;
}

interface TranscriptLine {
  readonly payload?: {
    readonly item?: { readonly type?: unknown; readonly id?: unknown; readonly exit_code?: unknown };
  };
}

/** Returns the last lines of a file; no lines if it cannot be read. */
function endOf(path: string): string[] {
  try {
    const file = openSync(path, 'r');
    try {
      const start = Math.max(0, fstatSync(file).size - transcriptBytes);
      const bytes = Buffer.alloc(transcriptBytes);
      return bytes.toString('utf8', 0, readSync(file, bytes, 0, transcriptBytes, start)).split('\n');
    } finally {
      closeSync(file);
    }
  } catch {
    return [];
  }
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
  return fieldsStatus(response);
}

function callOf(event: EventFields): HookCall {
  return {
    ...threadOf(event),
    callId: event.text('tool_use_id'),
    toolName: event.text('tool_name'),
    arguments: event.value('tool_input'),
  };
}
