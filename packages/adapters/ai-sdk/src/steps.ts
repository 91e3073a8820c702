import { type AdapterCalls, conversationSession } from '@actlog/recorder/adapter';
import { aiSdkCalls } from './ai-sdk-calls.ts';
import type { ActlogOptions } from './options.ts';
import { runSessions } from './run-sessions.ts';
import { awaitedCalls, type EndedStep, stepCalls } from './step-calls.ts';

/** Provider calls whose result may come in a later step, at most. */
const maxAwaited = 1000;

/** The callback behind `actlog.steps()`: for `onStepFinish`, or `onStepEnd` as `ai` 7 calls it. */
export function recordSteps(options: Omit<ActlogOptions, 'guard'> = {}): (step: EndedStep) => void {
  const steps = new StepCalls(aiSdkCalls(options));
  return (step) => steps.record(step, conversationSession(undefined) ?? runSessions.get(step.callId));
}

/** Records the calls of steps that no tool of this process was run for. */
export class StepCalls {
  readonly #calls: AdapterCalls;
  /** What the provider was asked, by id: a result that comes in a later step does not repeat it. */
  readonly #asked = new Map<string, unknown>();

  constructor(calls: AdapterCalls) {
    this.#calls = calls;
  }

  /** Records each call once, however many hooks tell of the step. */
  record(step: EndedStep, sessionId: string | undefined): void {
    this.#remember(step);
    for (const { part, toolName, toolCallId, input, isProviders, outcome } of stepCalls(step)) {
      if (!this.#calls.covers(toolName) || !this.#calls.claim(part)) continue;
      const call = { toolName, arguments: input ?? this.#asked.get(toolCallId), sessionId };
      // Spans of what the provider runs end with the model's answer, before the step does.
      this.#calls.recordLate(isProviders ? { ...call, callId: toolCallId } : call, outcome);
    }
  }

  #remember(step: EndedStep): void {
    for (const { toolCallId, input } of awaitedCalls(step)) {
      this.#asked.set(toolCallId, input);
      if (this.#asked.size > maxAwaited) this.#asked.delete(this.#asked.keys().next().value as string);
    }
  }
}
