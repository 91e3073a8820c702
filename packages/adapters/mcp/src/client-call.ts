import { AsyncLocalStorage } from 'node:async_hooks';
import type { CallParams } from './call-params.ts';

/** A call that a recorded client is making. */
export interface ClientCall {
  readonly params: CallParams;
  readonly callId: string;
}

const underway = new AsyncLocalStorage<ClientCall>();

/** The call that is being made here: the requests that the client makes for it, and a server in the same process, are part of it. */
export function currentClientCall(): ClientCall | undefined {
  return underway.getStore();
}

/** Makes a call. */
export function asClientCall<Result>(call: ClientCall, run: () => Result): Result {
  return underway.run(call, run);
}
