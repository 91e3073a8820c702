import { AsyncLocalStorage } from 'node:async_hooks';
import { processWide } from '@actlog/recorder/adapter';

/** A call that the middleware or a wrapped tool records. */
interface RecordedCall {
  readonly recorder: object;
  readonly toolName: string;
  readonly callId: string | undefined;
  /** What is known of the tool itself. */
  readonly tool: unknown;
  /** The name that the caller gave the run of the tool. */
  readonly runName?: string | undefined;
}

/** One that is under way. */
interface UnderwayCall extends RecordedCall {
  /** The run of the tool, where the call has no id to know it by. */
  runId: string | undefined;
  readonly outer: UnderwayCall | undefined;
}

/** A tool that starts, as callbacks are told. */
interface StartedTool {
  readonly toolName: string;
  readonly callId: string | undefined;
  readonly runId: string;
}

const underway = processWide('@actlog/langchain/recorded-calls', () => new AsyncLocalStorage<UnderwayCall>());

/** Runs what a call consists of, so that callbacks know in there that this recorder has it. */
export function asRecordedCall<Result>(call: RecordedCall, run: () => Result): Result {
  return underway().run({ ...call, runId: undefined, outer: underway().getStore() }, run);
}

/** Whether a hook further out records the call of this id. */
export function isWithinCall(callId: string | undefined): boolean {
  let call = underway().getStore();
  while (call && call.callId !== callId) call = call.outer;
  return call !== undefined;
}

/** Whether this recorder has the call that a tool starts for: middleware further in may start it again and again. */
export function isRecorded(recorder: object, started: StartedTool): boolean {
  for (let call = underway().getStore(); call; call = call.outer) {
    if (call.recorder === recorder && isSame(call, started)) return true;
  }
  return false;
}

function isSame(call: UnderwayCall, { toolName, callId, runId }: StartedTool): boolean {
  if (call.callId !== callId || !namesOf(call).includes(toolName)) return false;
  if (callId !== undefined) return true;
  // A tool that calls itself is two calls.
  call.runId ??= runId;
  return call.runId === runId;
}

/** A tool starts under the name that its run was given; else one that is a class of its own, under that of the class. */
function namesOf({ toolName, tool, runName }: RecordedCall): (string | undefined)[] {
  const { lc_id: id } = (tool ?? {}) as { lc_id?: readonly string[] };
  return [toolName, id?.at(-1), runName];
}
