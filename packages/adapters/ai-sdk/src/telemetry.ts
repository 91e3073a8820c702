import { AsyncLocalStorage } from 'node:async_hooks';
import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import {
  AdapterCalls,
  type AdapterOptions,
  type ChatTexts,
  chatTexts,
  currentSessionId,
  noArgumentsHash,
  noteTexts,
  processWide,
  type RecordOnlyOptions,
  refuseGuard,
  SessionsById,
  toolContent,
} from '@actlog/recorder/adapter';
import { awaitedCalls, type EndedStep, providerCalls, stepCalls } from './step-calls.ts';

/** Version of this package; the release writes it. */
export const version = '0.0.0';

/** Creates the `AdapterCalls` of this adapter. */
export function aiSdkCalls(options: ActlogOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'ai-sdk',
      sdk: `@actlog/ai-sdk/${version}`,
      form: 'actlog(tools, { guard })',
      statusOf,
      resultOf: toolContent,
    },
    options,
  );
}

/** Statuses by the names of the AI SDK's errors, which are the same in all its copies and majors. */
const errorStatuses: Readonly<Record<string, number>> = {
  AI_InvalidToolInputError: responseStatuses.invalidArguments,
  AI_NoSuchToolError: responseStatuses.unknownTool,
};

function statusOf(outcome: ToolOutcome): number | undefined {
  if (outcome.ok || typeof outcome.error !== 'object' || outcome.error === null) return undefined;
  const { name, originalError } = outcome.error as { name?: unknown; originalError?: unknown };
  // A call that could not be repaired has the status of the original error.
  if (name === 'AI_ToolCallRepairError') return statusOf({ ok: false, error: originalError });
  return typeof name === 'string' ? errorStatuses[name] : undefined;
}

/** Sessions of runs, stored when the messages are known and looked up when steps end. */
const runSessions: SessionsById = new SessionsById('@actlog/ai-sdk/run-sessions');

/** Sessions of calls by their inputs, which the steps of the run contain as the same objects. */
const inputSessions = processWide('@actlog/ai-sdk/input-sessions', () => new WeakMap<object, string>());

/** Remembers the session of a call that a wrapped tool runs. */
export function rememberInputSession(input: unknown, sessionId: string | undefined): void {
  if (typeof input === 'object' && input !== null && sessionId !== undefined) {
    inputSessions().set(input, sessionId);
  }
}

/** Returns the session of a step's run, if it is known from telemetry, or from a call of this or an earlier step. */
function sessionOfStep({
  callId,
  content,
}: {
  readonly callId?: string | undefined;
  readonly content: readonly unknown[];
}): string | undefined {
  const known = runSessions.get(callId);
  if (known !== undefined) return known;
  const inputs = content.map((part) => (part as { readonly input?: unknown }).input);
  const sessionId = inputs.map((input) => inputSessions().get(input as object)).find(Boolean);
  runSessions.note(callId, sessionId);
  return sessionId;
}

/** Maximum number of provider calls whose result may come in a later step. */
const maxAwaited = 1000;

/** Creates the callback behind `actlog.steps()`: for `onStepFinish`, or `onStepEnd` in `ai` 7. */
export function recordSteps(options: RecordOnlyOptions<ActlogOptions> = {}): (step: EndedStep) => void {
  refuseGuard(options, 'actlog(tools, { guard })');
  const steps = new StepCalls(aiSdkCalls(options));
  return (step) => steps.record(step, currentSessionId() ?? sessionOfStep(step));
}

/** Records the calls of steps for which no tool of this process was run. */
class StepCalls {
  readonly #calls: AdapterCalls;
  /** Inputs of provider calls by id, because a result in a later step does not repeat them. */
  readonly #inputs = new Map<string, unknown>();

  constructor(calls: AdapterCalls) {
    this.#calls = calls;
  }

  /** Records each call once, even if several hooks report the step. */
  record(step: EndedStep, sessionId: string | undefined): void {
    this.#remember(step);
    for (const { part, toolName, toolCallId, input, isProviders, outcome } of stepCalls(step)) {
      if (!this.#calls.covers(toolName) || !this.#calls.claim(part)) continue;
      const call = { toolName, arguments: input ?? this.#inputs.get(toolCallId), sessionId };
      // Spans of provider tools end with the model's response, before the step does.
      this.#calls.recordLate(isProviders ? { ...call, callId: toolCallId } : call, outcome);
    }
  }

  #remember(step: EndedStep): void {
    for (const { toolCallId, input } of awaitedCalls(step)) {
      this.#inputs.set(toolCallId, input);
      if (this.#inputs.size > maxAwaited) this.#inputs.delete(this.#inputs.keys().next().value as string);
    }
  }
}

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
  /** Instructions: a string, or messages. */
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
  const recordOnce = ({ toolCallId, recordedBy, handledBy }: Execution, toolName: string) => {
    const { recorder } = calls;
    if (recordedBy.has(recorder) || handledBy.has(recorder)) return;
    handledBy.add(recorder);
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
          if (toolCall && calls.covers(toolCall.toolName)) recordOnce(execution, toolCall.toolName);
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

/** Returns the messages of a step that may call tools. Within a tool, a model wrote the user messages. */
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

/** A call for which a tool is being run, observed by telemetry. */
interface Execution {
  readonly callId: string;
  readonly toolCallId: string;
  /** Recorders that have recorded the call. */
  readonly recordedBy: Set<object>;
  /** Recorders that have been notified of the call. */
  readonly handledBy: Set<object>;
}

const storage = processWide('@actlog/ai-sdk/execution', () => new AsyncLocalStorage<Execution>());

/** Runs a tool as a call observed by telemetry. Telemetry that is registered twice shares one execution. */
function watch<Result>(callId: string, toolCallId: string, run: (execution: Execution) => Result): Result {
  const outer = storage().getStore();
  if (outer?.callId === callId && outer.toolCallId === toolCallId) return run(outer);
  const execution: Execution = { callId, toolCallId, recordedBy: new Set(), handledBy: new Set() };
  return storage().run(execution, () => run(execution));
}

/** Returns `true` inside a tool that telemetry observes. */
function isInExecution(): boolean {
  return storage().getStore() !== undefined;
}

/** Remembers, for telemetry that may be observing, that a wrapped tool records the call. */
export function rememberExecution(toolCallId: string | undefined, recorder: object): void {
  const execution = storage().getStore();
  if (execution && execution.toolCallId === toolCallId) execution.recordedBy.add(recorder);
}

/** Options of the adapter. All are optional. */
export interface ActlogOptions extends AdapterOptions {}
