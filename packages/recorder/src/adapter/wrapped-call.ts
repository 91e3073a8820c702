import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { processWide } from '../process-wide.ts';

/** A place that a call passes: a tool that is wrapped twice has two, one within the other. */
export interface Wrapping {
  /** What the call comes in by. */
  readonly wrapper: object;
  /** What it is passed on to: the tool itself, or a wrapper further in. */
  readonly wrapped: object;
}

/** A call that a wrapper has passed on. */
interface PassedCall {
  readonly to: object;
  readonly callId: string;
}

const passed = processWide('@actlog/recorder/passed-call', () => new AsyncLocalStorage<PassedCall>());

/** Runs a call that has no id under one of its own, which a wrapper further in knows too: for both it is one call. */
export function withCallId<Result>({ wrapper, wrapped }: Wrapping, run: (callId: string) => Result): Result {
  const outer = passed().getStore();
  const callId = outer?.to === wrapper ? outer.callId : randomUUID();
  return passed().run({ to: wrapped, callId }, () => run(callId));
}
