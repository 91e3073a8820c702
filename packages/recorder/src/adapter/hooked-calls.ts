const key = Symbol.for('@actlog/recorder/hooked-calls');

/** How many calls are remembered for a recorder. */
const maxCalls = 1000;

/** What a call is known by. */
export interface IdentifiedCall {
  readonly toolName: string;
  /** The framework's id of the call; a call without one is not remembered. */
  readonly callId?: string | undefined;
}

/** One for all copies of this package. */
function hookedCalls(recorder: object): Set<string> {
  const registry = globalThis as { [key]?: WeakMap<object, Set<string>> };
  registry[key] ??= new WeakMap();
  const known = registry[key].get(recorder) ?? new Set();
  registry[key].set(recorder, known);
  return known;
}

function nameOf({ toolName, callId }: IdentifiedCall): string {
  return `${callId}\n${toolName}`;
}

/** Remembers that the adapter of a framework has this call. */
export function noteHookedCall(recorder: object, call: IdentifiedCall): void {
  if (call.callId === undefined) return;
  const calls = hookedCalls(recorder);
  calls.delete(nameOf(call)); // added again, as the youngest
  calls.add(nameOf(call));
  const [oldest] = calls;
  if (calls.size > maxCalls && oldest !== undefined) calls.delete(oldest);
}

/** Whether the adapter of a framework has this call. Answers so once, because some models use an id again. */
export function takeHookedCall(recorder: object, call: IdentifiedCall): boolean {
  return call.callId !== undefined && hookedCalls(recorder).delete(nameOf(call));
}
