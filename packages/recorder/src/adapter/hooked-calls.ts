import { processWidePerOwner } from '../process-wide.ts';

/** How many calls are remembered for a recorder. */
const maxCalls = 1000;

/** What a call is known by. */
export interface IdentifiedCall {
  readonly toolName: string;
  /** The framework's id of the call; a call without one is not remembered. */
  readonly callId?: string | undefined;
}

/** The names of a recorder's calls. */
const hookedCalls = processWidePerOwner('@actlog/recorder/hooked-calls', () => new Set<string>());

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
