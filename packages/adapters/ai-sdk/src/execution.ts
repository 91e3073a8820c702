import { AsyncLocalStorage } from 'node:async_hooks';
import { processWide } from '@actlog/recorder/adapter';

/** A call for which a tool is being run, observed by telemetry. */
export interface Execution {
  readonly callId: string;
  readonly toolCallId: string;
  /** Recorders that have recorded the call. */
  readonly recordedBy: Set<object>;
  /** Recorders that have been notified of the call. */
  readonly notedBy: Set<object>;
}

const storage = processWide('@actlog/ai-sdk/execution', () => new AsyncLocalStorage<Execution>());

/** Runs a tool as a call observed by telemetry. Telemetry that is registered twice shares one execution. */
export function watch<Result>(
  callId: string,
  toolCallId: string,
  run: (execution: Execution) => Result,
): Result {
  const outer = storage().getStore();
  if (outer?.callId === callId && outer.toolCallId === toolCallId) return run(outer);
  const execution: Execution = { callId, toolCallId, recordedBy: new Set(), notedBy: new Set() };
  return storage().run(execution, () => run(execution));
}

/** Returns `true` inside a tool that telemetry observes. */
export function isInExecution(): boolean {
  return storage().getStore() !== undefined;
}

/** Notes, for telemetry that may be observing, that a wrapped tool records the call. */
export function noteExecution(toolCallId: string | undefined, recorder: object): void {
  const execution = storage().getStore();
  if (execution && execution.toolCallId === toolCallId) execution.recordedBy.add(recorder);
}
