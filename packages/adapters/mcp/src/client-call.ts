import { AsyncLocalStorage } from 'node:async_hooks';
import { processWide } from '@actlog/recorder/adapter';
import { type CallParams, isSameCall } from './call-params.ts';

/** A call that a recorded client is making. */
export interface ClientCall {
  readonly client: object;
  readonly params: CallParams;
  readonly callId: string;
}

/** One that is under way; a server may have taken its id. */
interface UnderwayCall extends ClientCall {
  isTaken: boolean;
}

const underway = processWide('@actlog/mcp/client-call', () => new AsyncLocalStorage<UnderwayCall>());

/** The call that is being made here: the requests that the client makes for it are part of it. */
export function currentClientCall(): ClientCall | undefined {
  return underway().getStore();
}

/**
 * The id of the client's call, for a server in the same process that answers it. What the tool itself calls comes from
 * here too, so the id is given out once, and only to the very same tool and arguments: an approval lets one call run.
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
