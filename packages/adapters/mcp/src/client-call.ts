import { AsyncLocalStorage } from 'node:async_hooks';
import { type CallParams, isSameCall, processWide } from '@actlog/recorder/adapter';

/** A call made by a recorded client. */
export interface ClientCall {
  readonly client: object;
  readonly params: CallParams;
  readonly callId: string;
}

/** A running call; a server may have taken its id. */
interface UnderwayCall extends ClientCall {
  isTaken: boolean;
}

const underway = processWide('@actlog/mcp/client-call', () => new AsyncLocalStorage<UnderwayCall>());

/** Returns the current client call; requests that the client sends for it are part of it. */
export function currentClientCall(): ClientCall | undefined {
  return underway().getStore();
}

/**
 * Returns the id of the client's call, for a server in the same process that handles it. Inner calls of the tool come
 * from here too, so the id is returned once, and only for exactly the same tool and arguments, because an approval
 * allows one call.
 */
export function takeClientCallId(params: CallParams): string | undefined {
  const call = underway().getStore();
  if (!call || call.isTaken || !isSameCall(call.params, params)) return undefined;
  call.isTaken = true;
  return call.callId;
}

/** Makes a call. */
export function asClientCall<Result>(call: ClientCall, run: () => Result): Result {
  return underway().run({ ...call, isTaken: false }, run);
}
