import {
  type AdapterCalls,
  currentSessionId,
  type RecordOnlyOptions,
  refuseGuard,
} from '@actlog/recorder/adapter';
import { aiSdkCalls } from './ai-sdk-calls.ts';
import type { ActlogOptions } from './options.ts';
import { sessionOfStep } from './run-sessions.ts';
import { awaitedCalls, type EndedStep, stepCalls } from './step-calls.ts';

/** Maximum number of provider calls whose result may come in a later step. */
const maxAwaited = 1000;

/** Creates the callback behind `actlog.steps()`: for `onStepFinish`, or `onStepEnd` in `ai` 7. */
export function recordSteps(options: RecordOnlyOptions<ActlogOptions> = {}): (step: EndedStep) => void {
  refuseGuard(options, 'actlog(tools, { guard })');
  const steps = new StepCalls(aiSdkCalls(options));
  return (step) => steps.record(step, currentSessionId() ?? sessionOfStep(step));
}

/** Records the calls of steps for which no tool of this process was run. */
export class StepCalls {
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
