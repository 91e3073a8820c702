import { AsyncLocalStorage } from 'node:async_hooks';
import { processWide } from '@actlog/recorder/adapter';
import type { RecordedCalls } from './recorded-calls.ts';

/** The call that code runs in, as far as hooks have seen it. */
export interface Place {
  /** What Mastra gives the tool: one object a call. */
  readonly invocation: object;
  readonly toolName: string;
  /** The session of those whom the call delegates to; undefined where the tool is no agent. */
  readonly delegatedSession: string | undefined;
  /** Who records the call by a hook. */
  readonly recordedBy: Set<RecordedCalls>;
  /** The span of the call, once it has begun. */
  spanId?: string;
}

const storage = processWide('@actlog/mastra/place', () => new AsyncLocalStorage<Place>());

/** As the recorder does: Node.js 22 follows a storage from its first use on, which is to be before agents run. */
export function preparePlaces(): void {
  const nowhere: Place = { invocation: {}, toolName: '', delegatedSession: undefined, recordedBy: new Set() };
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
