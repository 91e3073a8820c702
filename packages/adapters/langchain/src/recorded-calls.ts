import { AsyncLocalStorage } from 'node:async_hooks';
import { type AdapterCalls, processWide } from '@actlog/recorder/adapter';

/** A call that the middleware or a wrapped tool records. */
interface RecordedCall {
  /** Recorder of the call. */
  readonly calls: AdapterCalls;
  readonly toolName: string;
  readonly callId: string | undefined;
  /** The tool itself. */
  readonly tool: unknown;
  /** Name that the caller gave the tool's run. */
  readonly runName?: string | undefined;
}

/** A running call. */
interface UnderwayCall extends RecordedCall {
  /** Run of the tool, if the call has no id. */
  runId: string | undefined;
  readonly outer: UnderwayCall | undefined;
}

/** A starting tool, as reported to callbacks. */
interface StartedTool {
  readonly toolName: string;
  readonly callId: string | undefined;
  readonly runId: string;
}

const underway = processWide('@actlog/langchain/recorded-calls', () => new AsyncLocalStorage<UnderwayCall>());

/** Runs a call, so that callbacks inside know that this recorder has it. */
export function asRecordedCall<Result>(call: RecordedCall, run: () => Result): Result {
  return underway().run({ ...call, runId: undefined, outer: underway().getStore() }, run);
}

/** Returns the recorder of the innermost call, if that is not the call with this id. */
export function callAround(callId: string | undefined): AdapterCalls | undefined {
  const innermost = underway().getStore();
  return innermost?.callId === callId ? undefined : innermost?.calls;
}

/** Returns `true` if an outer hook records the call with this id. */
export function isWithinCall(callId: string | undefined): boolean {
  let call = underway().getStore();
  while (call && call.callId !== callId) call = call.outer;
  return call !== undefined;
}

/**
 * Returns `true` if this recorder already records the call that a tool starts for; inner middleware may start it
 * repeatedly.
 */
export function isRecorded(recorder: object, started: StartedTool): boolean {
  for (let call = underway().getStore(); call; call = call.outer) {
    if (call.calls.recorder === recorder && isSame(call, started)) return true;
  }
  return false;
}

function isSame(call: UnderwayCall, { toolName, callId, runId }: StartedTool): boolean {
  if (call.callId !== callId || !namesOf(call).includes(toolName)) return false;
  if (callId !== undefined) return true;
  // A tool that calls itself makes two calls.
  call.runId ??= runId;
  return call.runId === runId;
}

/** Returns the names under which a tool may start: that of its run, its own, or that of its class. */
function namesOf({ toolName, tool, runName }: RecordedCall): (string | undefined)[] {
  const { lc_id: id } = (tool ?? {}) as { lc_id?: readonly string[] };
  return [toolName, id?.at(-1), runName];
}
