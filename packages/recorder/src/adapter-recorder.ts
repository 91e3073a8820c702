import { createEventId } from './event-id.ts';
import { Session } from './session.ts';
import type { ToolCall, ToolCallFacts } from './tool-call.ts';

/** What an adapter says of itself. */
export interface AdapterIdentity {
  /** Sent as `x-service-framework`, such as `langchain`. */
  readonly framework: string;
  /** Sent as `x-service-sdk`, such as `@actlog/langchain/1.0.0`. */
  readonly sdk: string;
}

/** What an adapter view passes its calls on to. */
interface Target {
  toolCall<Result>(call: ToolCall, run: () => Result | Promise<Result>): Promise<Result>;
  record(facts: ToolCallFacts): string;
}

/**
 * A recorder as one adapter sees it: the same queue, journal and guard, with the adapter's own names on every event.
 * So one recorder serves any number of frameworks.
 */
export class AdapterRecorder {
  /** Who this view belongs to. */
  readonly identity: AdapterIdentity;
  readonly #target: Target;

  constructor(target: Target, identity: AdapterIdentity) {
    this.#target = target;
    this.identity = identity;
  }

  /** `recorder.toolCall`, named as this adapter's. */
  toolCall<Result>(call: ToolCall, run: () => Result | Promise<Result>): Promise<Result> {
    return this.#target.toolCall({ ...this.identity, ...call }, run);
  }

  /** `recorder.record`, named as this adapter's. */
  record(facts: ToolCallFacts): string {
    return this.#target.record({ ...this.identity, ...facts });
  }

  /** `recorder.session`, named as this adapter's. */
  session(id?: string): Session {
    return new Session(id ?? createEventId(Date.now()), this);
  }
}
