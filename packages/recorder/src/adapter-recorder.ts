import type { RunningCall } from './active-call.ts';
import { createEventId } from './event-id.ts';
import type { GuardOptions } from './guard/guard-options.ts';
import { Session } from './session.ts';
import type { ToolCall, ToolCallFacts } from './tool-call.ts';

/** What an adapter says of itself. */
export interface AdapterIdentity {
  /** Sent as `x-service-framework`, such as `langchain`. */
  readonly framework: string;
  /** Sent as `x-service-sdk`, such as `@actlog/langchain/1.0.0`. */
  readonly sdk: string;
}

/** Settings of an adapter's view of a recorder. */
export interface AdapterRecorderOptions extends AdapterIdentity {
  /**
   * The guard of the calls that come through this adapter. What it leaves out is as in the recorder's guard; without
   * it, the recorder's guard holds.
   */
  readonly guard?: GuardOptions | undefined;
}

/** What an adapter view passes its calls on to. */
interface Target {
  readonly isGuarding: boolean;
  toolCall<Result>(call: ToolCall, run: () => Result | Promise<Result>): Promise<Result>;
  record(facts: ToolCallFacts): string;
  currentCall(): RunningCall | undefined;
  failed(kind: string, error: Error): void;
}

/**
 * A recorder as one adapter sees it: the same queue and journal, with the adapter's own names on every event, and
 * a guard of its own where it was given one. So one recorder serves any number of frameworks.
 */
export class AdapterRecorder {
  /** Who this view belongs to. */
  readonly identity: AdapterIdentity;
  readonly #target: Target;

  constructor(target: Target, identity: AdapterIdentity) {
    this.#target = target;
    this.identity = identity;
  }

  /** Whether calls that come through this view run only when the guard lets them. */
  get isGuarding(): boolean {
    return this.#target.isGuarding;
  }

  /** `recorder.toolCall`, named as this adapter's. */
  toolCall<Result>(call: ToolCall, run: () => Result | Promise<Result>): Promise<Result> {
    return this.#target.toolCall({ ...this.identity, ...call }, run);
  }

  /** `recorder.record`, named as this adapter's. */
  record(facts: ToolCallFacts): string {
    return this.#target.record({ ...this.identity, ...facts });
  }

  /** The innermost call of the recorder that is running here, through whichever adapter it came. */
  currentCall(): RunningCall | undefined {
    return this.#target.currentCall();
  }

  /**
   * Tells the recorder's `onError` what went wrong in the adapter; without one, the console, once a kind.
   *
   * @param kind - what it is about, such as the name of an option
   */
  failed(kind: string, error: Error): void {
    this.#target.failed(`${this.identity.framework}-${kind}`, error);
  }

  /** `recorder.session`, named as this adapter's. */
  session(id?: string): Session {
    return new Session(id ?? createEventId(Date.now()), this);
  }
}
