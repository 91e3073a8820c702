import { AsyncLocalStorage } from 'node:async_hooks';
import { type BegunCall, type HookedCall, processWide } from '@actlog/recorder/adapter';
import type { RecordedCalls } from './recorded-calls.ts';

/** The call that code runs in, as far as hooks have seen it. */
export interface Place {
  /** What Mastra gives the tool: one object a call. */
  readonly invocation: object;
  readonly call: HookedCall;
  /** The session of those whom the call delegates to; undefined where the tool is no agent. */
  readonly delegatedSession: string | undefined;
  /** Who records the call by a hook. */
  readonly recordedBy: Set<RecordedCalls>;
  /** The span of the call, once it has begun. */
  spanId?: string;
  /** Has what follows here run as a call that begins later; hooks within hooks share it. */
  enterCall?: (call: BegunCall) => void;
  /** What Mastra has made of the arguments, once it has handed them to a tool that is wrapped. */
  handedOver?: { readonly input: unknown };
}

const storage = processWide('@actlog/mastra/place', () => new AsyncLocalStorage<Place>());

/** As the recorder does: Node.js 22 follows a storage from its first use on, which is to be before agents run. */
export function preparePlaces(): void {
  const call = { toolName: '', arguments: undefined };
  const nowhere: Place = { invocation: {}, call, delegatedSession: undefined, recordedBy: new Set() };
  storage().run(nowhere, () => {});
}

/** The innermost call that code runs in. */
export function currentPlace(): Place | undefined {
  return storage().getStore();
}

/**
 * Makes what follows here, up to the end of the tool, run in a call. To be called before a hook's first `await`. Hooks
 * within hooks share the place.
 */
export function enterPlace(place: Omit<Place, 'recordedBy'>): Place {
  const current = currentPlace();
  if (current?.invocation === place.invocation) return current;
  const entered: Place = { ...place, recordedBy: new Set() };
  storage().enterWith(entered);
  return entered;
}

/**
 * What the model asked for, where a hook was told of this very call: Mastra fills in the defaults of the schema after
 * it. Else what the tool is given.
 */
export function askedFor(toolName: string, callId: string | undefined, input: unknown): unknown {
  const place = currentPlace();
  const isSame = place && place.call.callId === callId && place.call.toolName === toolName;
  if (!isSame || callId === undefined) return input;
  place.handedOver ??= { input };
  return place.handedOver.input === input ? place.call.arguments : input;
}

/** The agent whose tool runs here; undefined where that delegates to another. */
export function callingAgent(): string | undefined {
  const place = currentPlace();
  return place?.delegatedSession === undefined ? place?.call.agentId : undefined;
}
