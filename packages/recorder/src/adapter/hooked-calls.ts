import { dropOldest } from '../lib/linked-list.ts';
import { processWidePerOwner } from '../lib/process-wide.ts';
import { currentCall } from '../recording/active-call.ts';

/** Minimum number of calls remembered per recorder; the maximum is twice as many. */
const maxCalls = 1000;

/** Key of a call. */
export interface IdentifiedCall {
  readonly toolName: string;
  /** The framework's id of the call. A call without one is not remembered. */
  readonly callId?: string | undefined;
}

/** Number of calls per key, because some models restart the numbering of calls in each conversation. */
type CallCounts = Map<string, number>;

/** Calls handled by a framework's own adapter, per recorder. */
const hookedCalls = processWidePerOwner('@actlog/recorder/hooked-calls', (): CallCounts => new Map());

/** Calls recorded by a generic hook, because no adapter had announced them, per recorder. */
const unhookedCalls = processWidePerOwner('@actlog/recorder/unhooked-calls', (): CallCounts => new Map());

/** Time of a call that a framework's own adapter handles. */
interface HookedTime {
  readonly toolName: string;
  readonly beganMs: number;
  endedMs: number;
}

/** Times of calls, to recognize one that a generic hook sees without its id, per recorder. */
const hookedTimes = processWidePerOwner(
  '@actlog/recorder/hooked-times',
  (): { times?: HookedTime[] } => ({}),
);

/** Remembers the times of calls from now on, for a generic hook of this recorder. */
export function watchHookedTimes(recorder: object): void {
  hookedTimes(recorder).times ??= [];
}

/** Remembers that a framework's own adapter handles a call of this tool now, until the returned function is called. */
export function noteHookedTime(recorder: object, toolName: string): (() => void) | undefined {
  const { times } = hookedTimes(recorder);
  if (!times) return undefined;
  const time: HookedTime = { toolName, beganMs: Date.now(), endedMs: Number.POSITIVE_INFINITY };
  if (times.push(time) > 2 * maxCalls) times.splice(0, maxCalls);
  return () => {
    time.endedMs = Date.now();
  };
}

/**
 * Returns `true` if a framework's own adapter handles or handled a call of this tool at this time, once for each call.
 * Both ends count, because times in a span may be whole milliseconds.
 */
export function takeHookedTime(recorder: object, toolName: string, fromMs: number, toMs: number): boolean {
  const times = hookedTimes(recorder).times ?? [];
  const place = times.findIndex(
    (time) => time.toolName === toolName && time.beganMs <= toMs + 1 && time.endedMs >= fromMs - 1,
  );
  if (place === -1) return false;
  times.splice(place, 1);
  return true;
}

function nameOf({ toolName, callId }: IdentifiedCall): string {
  return `${callId}\n${toolName}`;
}

/** Remembers that a framework's own adapter handles this call. */
export function noteHookedCall(recorder: object, call: IdentifiedCall): void {
  if (call.callId === undefined) return;
  const calls = hookedCalls(recorder);
  if (!calls.has(nameOf(call)) || !runsWithin(call)) add(calls, nameOf(call));
}

/** Returns `true` if a framework's own adapter handles this call, once for each call with that id. */
export function takeHookedCall(recorder: object, call: IdentifiedCall): boolean {
  return call.callId !== undefined && take(hookedCalls(recorder), nameOf(call));
}

/** Remembers that a generic hook recorded this call. */
export function noteUnhookedCall(recorder: object, call: IdentifiedCall): void {
  if (call.callId !== undefined) add(unhookedCalls(recorder), nameOf(call));
}

/** Returns `true` if a generic hook recorded this call. */
export function isUnhookedCall(recorder: object, call: IdentifiedCall): boolean {
  return call.callId !== undefined && unhookedCalls(recorder).has(nameOf(call));
}

/** Does the same, once for each call with that id. */
export function takeUnhookedCall(recorder: object, call: IdentifiedCall): boolean {
  return call.callId !== undefined && take(unhookedCalls(recorder), nameOf(call));
}

function add(calls: CallCounts, name: string): void {
  const count = calls.get(name) ?? 0;
  if (count > 0) calls.delete(name); // re-added as the newest entry
  calls.set(name, count + 1);
  if (calls.size > 2 * maxCalls) dropOldest(calls, maxCalls);
}

function take(calls: CallCounts, name: string): boolean {
  const count = calls.get(name) ?? 0;
  if (count > 1) calls.set(name, count - 1);
  else calls.delete(name);
  return count > 0;
}

/** Returns `true` if an outer hook has reported this call, because the adapter is installed twice. */
function runsWithin({ toolName, callId }: IdentifiedCall): boolean {
  for (let outer = currentCall(); outer; outer = outer.outer) {
    if (outer.callId === callId && outer.toolName === toolName) return true;
  }
  return false;
}
