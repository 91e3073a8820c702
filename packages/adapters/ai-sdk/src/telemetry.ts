import type { ToolOutcome } from '@actlog/recorder';
import {
  type ChatTexts,
  chatTexts,
  noArgumentsHash,
  noteTexts,
  type RecordOnlyOptions,
  refuseGuard,
} from '@actlog/recorder/adapter';
import { aiSdkCalls } from './ai-sdk-calls.ts';
import { type Execution, isInExecution, watch } from './execution.ts';
import type { ActlogOptions } from './options.ts';
import { runSessions } from './run-sessions.ts';
import { type EndedStep, providerCalls } from './step-calls.ts';
import { StepCalls } from './steps.ts';

/** A finished tool execution. */
interface EndedExecution {
  readonly callId: string;
  readonly messages: readonly unknown[];
  readonly toolCall: { readonly toolCallId: string; readonly toolName: string; readonly input: unknown };
  readonly toolOutput: { readonly type: string; readonly output?: unknown; readonly error?: unknown };
}

/** A step of a run that starts. */
interface StartedStep {
  readonly callId: string;
  readonly messages: readonly unknown[];
  /** Instructions: a text, or messages. */
  readonly instructions?: unknown;
  readonly tools?: object | undefined;
}

/** Integration for `registerTelemetry` and `telemetry.integrations` of `ai` 7; `ai` 6 has no such type. */
export interface ActlogTelemetry {
  onStepStart(event: StartedStep): void;
  onLanguageModelCallEnd(event: { readonly content: readonly unknown[] }): void;
  executeTool<Result>(options: {
    readonly callId: string;
    readonly toolCallId: string;
    readonly toolCall?: { readonly toolName: string };
    readonly messages?: readonly unknown[];
    readonly execute: () => PromiseLike<Result>;
  }): PromiseLike<Result>;
  onToolExecutionEnd(event: EndedExecution): void;
  onStepEnd(step: EndedStep & { readonly callId: string }): void;
}

/**
 * Creates the integration behind `actlog.telemetry()`. Records only: a guard that any call can disable with its
 * `telemetry` setting would be useless.
 */
export function recordTelemetry(options: RecordOnlyOptions<ActlogOptions> = {}): ActlogTelemetry {
  refuseGuard(options, 'actlog(tools, { guard })');
  const calls = aiSdkCalls(options);
  const steps = new StepCalls(calls);
  const executions = new Map<string, Execution>();
  const noteOnce = ({ toolCallId, recordedBy, notedBy }: Execution, toolName: string) => {
    const { recorder } = calls;
    if (recordedBy.has(recorder) || notedBy.has(recorder)) return;
    notedBy.add(recorder);
    calls.note({ toolName, callId: toolCallId });
  };
  return {
    onStepStart(step) {
      const sessionId = calls.conversations.sessionOf(step.messages);
      runSessions.note(step.callId, sessionId);
      noteTexts(calls, () => ({ sessionId, ...textsOf(step) }));
    },
    onLanguageModelCallEnd({ content }) {
      if (!calls.claim(content)) return;
      for (const call of providerCalls(content)) if (calls.covers(call.toolName)) calls.note(call);
    },
    executeTool({ callId, toolCallId, toolCall, messages, execute }) {
      const sessionId = calls.conversations.sessionOf(messages);
      // An agent called by the tool shares the session of its caller.
      const run = sessionId === undefined ? execute : () => calls.recorder.session(sessionId).run(execute);
      return watch(callId, toolCallId, async (execution) => {
        executions.set(executionId(callId, toolCallId), execution);
        try {
          return await run();
        } finally {
          // Not at the end of the execution, because other integrations may be notified earlier and end their spans.
          if (toolCall && calls.covers(toolCall.toolName)) noteOnce(execution, toolCall.toolName);
        }
      });
    },
    onToolExecutionEnd({ callId, toolCall, toolOutput, messages }) {
      const { toolCallId, toolName, input } = toolCall;
      const id = executionId(callId, toolCallId);
      const recordedBy = executions.get(id)?.recordedBy;
      executions.delete(id);
      const { recorder } = calls;
      if (recordedBy?.has(recorder) || !calls.covers(toolName)) return;
      recordedBy?.add(recorder);
      // `recordInputs: false` hides the arguments.
      const hidden = input === undefined && { argumentsHash: noArgumentsHash };
      const sessionId = calls.conversations.sessionOf(messages);
      calls.conversations.note(messages, { toolName, callId: toolCallId }, sessionId);
      const call = { toolName, arguments: input, sessionId, ...hidden };
      calls.record(call, outcomeOf(toolOutput));
    },
    onStepEnd(step) {
      steps.record(step, runSessions.get(step.callId));
    },
  };
}

/** Returns the texts of a step that may call tools. Within a tool, the messages of the user are those of a model. */
function textsOf({ messages, instructions, tools }: StartedStep): Partial<ChatTexts> {
  if (!tools) return {};
  const { user, system } = chatTexts(messages);
  const own = chatTexts([instructions].flat()).system;
  return { user: isInExecution() ? [] : user, system: [...system, instructions, ...own] };
}

function executionId(callId: string, toolCallId: string): string {
  return `${callId} ${toolCallId}`;
}

function outcomeOf({ type, output, error }: EndedExecution['toolOutput']): ToolOutcome {
  return type === 'tool-error' ? { ok: false, error } : { ok: true, result: output };
}
