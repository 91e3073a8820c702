import { AsyncLocalStorage } from 'node:async_hooks';
import { processWide } from '@actlog/recorder/adapter';

/** A call that a tool is run for, while telemetry watches it. */
export interface Execution {
  readonly callId: string;
  readonly toolCallId: string;
  /** The recorders that have the call already. */
  readonly recordedBy: Set<object>;
  /** Those that have been told that they will. */
  readonly notedBy: Set<object>;
}

const storage = processWide('@actlog/ai-sdk/execution', () => new AsyncLocalStorage<Execution>());

/** Runs a tool as a call that telemetry watches; telemetry that is registered twice watches one and the same. */
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

/** Tells the telemetry that is watching, where there is any, that a wrapped tool records the call. */
export function noteExecution(toolCallId: string | undefined, recorder: object): void {
  const execution = storage().getStore();
  if (execution && execution.toolCallId === toolCallId) execution.recordedBy.add(recorder);
}
