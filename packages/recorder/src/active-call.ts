import { AsyncLocalStorage } from 'node:async_hooks';
import { processWide } from './process-wide.ts';

/** A call that is running, as hooks of other kinds may know it. */
export interface RunningCall {
  /** Name of the tool, as it is recorded. */
  readonly toolName: string;
}

/** A call that is running, for hooks further in that see the same call. */
export interface ActiveCall extends RunningCall {
  /** Who records it: a hook with another recorder records for another service. */
  readonly recordedBy: object;
  /** Hash of the arguments with which it runs. */
  argumentsHash: string;
  readonly callId: string | undefined;
  readonly framework: string | undefined;
  /** Agent and session of the guard's questions about it, and of its event where this hook records it. */
  readonly agentId: string;
  readonly sessionId: string;
  /** What let it run, and the action that this was asked about; undefined when nothing was asked. */
  readonly guard: object;
  actionId: string | undefined;
  /** The call within which this one runs. */
  readonly outer: ActiveCall | undefined;
  /** The same call as a hook further in sees it; that one is over when this one is. */
  inner: ActiveCall | undefined;
  /** Whether a hook further in may still see it as the same call: it has not ended, and no other hook has. */
  isOpen: boolean;
  /** The status with which a hook further in refused it: what this one's framework made of that may look like a result. */
  refusedWith: number | undefined;
}

/** A place in which code runs before it is known whether it belongs to a call. */
interface Place {
  /** The call that began here meanwhile. */
  begun: ActiveCall | undefined;
  readonly outer: ActiveCall | undefined;
}

const storage = processWide(
  '@actlog/recorder/active-call',
  () => new AsyncLocalStorage<ActiveCall | Place>(),
);

/**
 * Node.js 22 follows a storage from its first use on: functions that wait by then are drawn into whatever is entered
 * later in what they wait for. So it is used once before there is anything to enter.
 */
export function prepareCalls(): void {
  storage().run({ begun: undefined, outer: undefined }, () => {});
}

/** The innermost call that is running here. */
export function currentCall(): ActiveCall | undefined {
  const store = storage().getStore();
  let call = store && 'begun' in store ? (store.begun ?? store.outer) : store;
  // Where a place was entered, what ran before in it is over: a long run must not drag all of it along.
  while (call && !call.isOpen) call = call.outer;
  return call;
}

/** Runs a tool as the given call. */
export function runAsCall<Result>(call: ActiveCall, run: () => Result): Result {
  return storage().run(call, run);
}

/** Ends a call, and with it what hooks further in saw of it: what they leave running is no part of it. */
export function endCall(call: ActiveCall): void {
  for (let ended: ActiveCall | undefined = call; ended; ended = ended.inner) ended.isOpen = false;
}

/** Tells the hook further out, which records the call, with what it ran here, or that it was refused. */
export function tellOuter(outer: ActiveCall, { argumentsHash, refusedWith }: ActiveCall): void {
  outer.argumentsHash = argumentsHash;
  outer.refusedWith = refusedWith;
}

/** Runs what follows here as the given call, where nothing can be wrapped around the tool. */
export function enterCall(call: ActiveCall): void {
  storage().enterWith(call);
}

/** {@link enterCall} for a call that is not known yet: what follows here runs as the call that is given later. */
export function enterPlace(): (call: ActiveCall) => void {
  const place: Place = { begun: undefined, outer: currentCall() };
  storage().enterWith(place);
  return (call) => {
    place.begun = call;
  };
}

/**
 * Finds a running call that is the same as the one that is about to start, as two hooks see it: an MCP client's
 * within a LangChain tool's, say. The same means the same tool and the same arguments by hash, and either another
 * framework saw it, or the same framework with the same id. So a tool that calls itself is two calls; and an inner
 * call with other arguments, which nobody checked, is one of its own. Each outer call stands for one inner call while
 * it runs: a second one is a repetition, and really happens.
 *
 * @param innermost - the call within which the new one starts, as {@link currentCall} gives it
 */
export function claimSameCall(
  innermost: ActiveCall | undefined,
  recordedBy: object,
  toolName: string,
  argumentsHash: string,
  callId: string | undefined,
  framework: string | undefined,
): ActiveCall | undefined {
  for (let outer = innermost; outer; outer = outer.outer) {
    if (!outer.isOpen || outer.recordedBy !== recordedBy) continue;
    if (outer.toolName !== toolName || outer.argumentsHash !== argumentsHash) continue;
    const isOtherHook = outer.framework !== framework || (callId !== undefined && outer.callId === callId);
    if (!isOtherHook) continue;
    outer.isOpen = false;
    return outer;
  }
  return undefined;
}
