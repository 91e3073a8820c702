import { currentCall } from '../active-call.ts';
import { processWidePerOwner } from '../process-wide.ts';

/** How many names of calls are remembered for a recorder, at least; twice as many at most. */
const maxCalls = 1000;

/** What a call is known by. */
export interface IdentifiedCall {
  readonly toolName: string;
  /** The framework's id of the call; a call without one is not remembered. */
  readonly callId?: string | undefined;
}

/** How many calls there are of each name: some models number their calls anew in each conversation. */
type CallCounts = Map<string, number>;

/** The calls of a recorder that the adapter of a framework has. */
const hookedCalls = processWidePerOwner('@actlog/recorder/hooked-calls', (): CallCounts => new Map());

/** Those that a hook for every framework's calls recorded, as nobody else had them by then. */
const unhookedCalls = processWidePerOwner('@actlog/recorder/unhooked-calls', (): CallCounts => new Map());

function nameOf({ toolName, callId }: IdentifiedCall): string {
  return `${callId}\n${toolName}`;
}

/** Remembers that the adapter of a framework has this call. */
export function noteHookedCall(recorder: object, call: IdentifiedCall): void {
  if (call.callId === undefined) return;
  const calls = hookedCalls(recorder);
  if (!calls.has(nameOf(call)) || !runsWithin(call)) add(calls, nameOf(call));
}

/** Whether the adapter of a framework has this call. Answers so once for each call of that id. */
export function takeHookedCall(recorder: object, call: IdentifiedCall): boolean {
  return call.callId !== undefined && take(hookedCalls(recorder), nameOf(call));
}

/** Remembers that a hook for every framework's calls recorded this one. */
export function noteUnhookedCall(recorder: object, call: IdentifiedCall): void {
  if (call.callId !== undefined) add(unhookedCalls(recorder), nameOf(call));
}

/** Whether a hook for every framework's calls recorded this one. */
export function isUnhookedCall(recorder: object, call: IdentifiedCall): boolean {
  return call.callId !== undefined && unhookedCalls(recorder).has(nameOf(call));
}

/** The same. Answers so once for each call of that id. */
export function takeUnhookedCall(recorder: object, call: IdentifiedCall): boolean {
  return call.callId !== undefined && take(unhookedCalls(recorder), nameOf(call));
}

function add(calls: CallCounts, name: string): void {
  const count = calls.get(name) ?? 0;
  if (count > 0) calls.delete(name); // added again, as the youngest
  calls.set(name, count + 1);
  if (calls.size > 2 * maxCalls) forgetOldest(calls);
}

function take(calls: CallCounts, name: string): boolean {
  const count = calls.get(name) ?? 0;
  if (count > 1) calls.set(name, count - 1);
  else calls.delete(name);
  return count > 0;
}

/** Many at once: the way to a map's first entry leads over all that were deleted before it. */
function forgetOldest(calls: CallCounts): void {
  for (const name of calls.keys()) {
    if (calls.size <= maxCalls) return;
    calls.delete(name);
  }
}

/** Whether a hook further out has told of this call: the adapter is there twice. */
function runsWithin({ toolName, callId }: IdentifiedCall): boolean {
  for (let outer = currentCall(); outer; outer = outer.outer) {
    if (outer.callId === callId && outer.toolName === toolName) return true;
  }
  return false;
}
