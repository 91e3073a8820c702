import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { processWide } from '../lib/process-wide.ts';

/** A wrapper that a call passes through. A tool that is wrapped twice has two, one inside the other. */
export interface Wrapping {
  /** Function or object that receives the call. */
  readonly wrapper: object;
  /** Function or object that the call is passed on to: the tool itself, or an inner wrapper. */
  readonly wrapped: object;
}

/** A call that a wrapper has passed on. */
interface PassedCall {
  readonly to: object;
  readonly callId: string;
}

const passed = processWide('@actlog/recorder/passed-call', () => new AsyncLocalStorage<PassedCall>());

/** Runs a call without an id under a new one, which inner wrappers share, so that all see one call. */
export function withCallId<Result>({ wrapper, wrapped }: Wrapping, run: (callId: string) => Result): Result {
  const outer = passed().getStore();
  const callId = outer?.to === wrapper ? outer.callId : randomUUID();
  return passed().run({ to: wrapped, callId }, () => run(callId));
}
