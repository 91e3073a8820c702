import { AsyncLocalStorage } from 'node:async_hooks';
import { type AdapterCalls, processWide } from '@actlog/recorder/adapter';
import type { RunContext } from './run-context.ts';

/** A call that a hook of this package has seen. */
interface SeenCall {
  readonly toolName: string;
  readonly callId: string | undefined;
  /** The tool itself. */
  readonly tool: unknown;
  /** Name that the caller gave the tool's run. */
  readonly runName?: string | undefined;
}

/** An allowed call that is on its way to its tool. */
export interface PassedCall {
  /**
   * Invokes the tool.
   *
   * @param input - a call of the model; middleware may also invoke the tool itself, with only the arguments
   * @param run - invokes the tool with this input
   */
  invoke(tool: object, input: unknown, config: RunContext | undefined, run: () => unknown): Promise<unknown>;
}

/** A call that a hook records. */
interface RecordedCall extends SeenCall {
  /** Recorder of the call. */
  readonly calls: AdapterCalls;
  /** The call on its way to the tool, if the hook does not pass on a tool that watches it. */
  readonly watched?: PassedCall | undefined;
}

/** A running call. */
interface UnderwayCall extends SeenCall {
  readonly calls: AdapterCalls | undefined;
  /** Recorder of the calls inside, if this one is not recorded because the options do not select its tool. */
  readonly covering?: AdapterCalls | undefined;
  readonly watched?: PassedCall | undefined;
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

/**
 * Runs a call that something nearer decides about: it is recorded by that, or not at all.
 *
 * @param covering - recorder of the calls inside. Default: that around the call
 */
export function asSeenCall<Result>(call: SeenCall, run: () => Result, covering?: AdapterCalls): Result {
  const outer = underway().getStore();
  return underway().run({ ...call, calls: undefined, covering, runId: undefined, outer }, run);
}

/** Returns the innermost running call. */
export function innermostCall(): Readonly<UnderwayCall> | undefined {
  return underway().getStore();
}

/** Returns the recorder of the innermost call that has one. */
export function recorderAround(): AdapterCalls | undefined {
  for (let call = underway().getStore(); call; call = call.outer) {
    const calls = call.calls ?? call.covering;
    if (calls) return calls;
  }
  return undefined;
}

/** Returns `true` if an outer hook records the call with this id. */
export function isWithinCall(callId: string | undefined): boolean {
  let call = underway().getStore();
  while (call && (call.callId !== callId || !call.calls)) call = call.outer;
  return call !== undefined;
}

/**
 * Returns `true` if this recorder already records the call that a tool starts for; inner middleware may start it
 * repeatedly.
 */
export function isRecorded(recorder: object, started: StartedTool): boolean {
  for (let call = underway().getStore(); call; call = call.outer) {
    if (call.calls?.recorder === recorder && isSame(call, started)) return true;
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
function namesOf({ toolName, tool, runName }: SeenCall): (string | undefined)[] {
  const { lc_id: id } = (tool ?? {}) as { lc_id?: readonly string[] };
  return [toolName, id?.at(-1), runName];
}
