import { createEventId } from './events/event-id.ts';
import type { ToolCall, ToolCallFacts } from './events/tool-call.ts';
import type { GuardOptions } from './guard/guard-options.ts';
import type { OriginsOptions } from './origins/origins-options.ts';
import type { TextAuthor } from './origins/session-origins.ts';
import type { RunningCall } from './recording/active-call.ts';
import { RecorderSession } from './recording/recorder-session.ts';
import type { SharedCalls } from './recording/shared-calls.ts';

/** Identity of an adapter. */
export interface AdapterIdentity {
  /** Value of `x-service-framework`, such as `langchain`. */
  readonly framework: string;
  /** Value of `x-service-sdk`, such as `@actlog/langchain/1.0.0`. */
  readonly sdk: string;
}

/** Options of an adapter's view of a recorder. */
export interface AdapterRecorderOptions extends AdapterIdentity {
  /**
   * Guard for calls through this adapter. Missing options are taken from the recorder's guard. Default: the recorder's
   * guard.
   */
  readonly guard?: GuardOptions | undefined;
  /** Argument origins for calls through this adapter. Default: as the recorder does. */
  readonly origins?: boolean | OriginsOptions | undefined;
}

/** Receiver of the view's calls. */
interface Target {
  readonly isGuarding: boolean;
  toolCall<Result>(call: ToolCall, run: () => Result | Promise<Result>): Promise<Result>;
  record(facts: ToolCallFacts): string;
  readonly tracesOrigins: boolean;
  noteText(author: TextAuthor, text: string, sessionId?: string): void;
  currentCall(): RunningCall | undefined;
  readonly sharedCalls: SharedCalls | undefined;
  failed(kind: string, error: Error): void;
}

/**
 * A recorder as seen by one adapter: the same queue and journal, but with the adapter's names on every event and
 * optionally its own guard. One recorder can serve any number of frameworks.
 */
export class AdapterRecorder {
  /** Identity of the adapter that owns this view. */
  readonly identity: AdapterIdentity;
  readonly #target: Target;

  constructor(target: Target, identity: AdapterIdentity) {
    this.#target = target;
    this.identity = identity;
  }

  /** `true` if calls through this view run only when the guard allows them. */
  get isGuarding(): boolean {
    return this.#target.isGuarding;
  }

  /** Calls `recorder.toolCall` under this adapter's identity. */
  toolCall<Result>(call: ToolCall, run: () => Result | Promise<Result>): Promise<Result> {
    return this.#target.toolCall({ ...this.identity, ...call }, run);
  }

  /** Calls `recorder.record` under this adapter's identity. */
  record(facts: ToolCallFacts): string {
    return this.#target.record({ ...this.identity, ...facts });
  }

  /** `true` if the recorder finds out where arguments came from, so that texts are worth passing to `noteText`. */
  get tracesOrigins(): boolean {
    return this.#target.tracesOrigins;
  }

  /** Calls `recorder.noteText`. */
  noteText(author: TextAuthor, text: string, sessionId?: string): void {
    this.#target.noteText(author, text, sessionId);
  }

  /** Returns the innermost running call of the recorder, from any adapter. */
  currentCall(): RunningCall | undefined {
    return this.#target.currentCall();
  }

  /** Calls that this recorder shares with the other side of a connection; undefined if it reports to no service. */
  get sharedCalls(): SharedCalls | undefined {
    return this.#target.sharedCalls;
  }

  /**
   * Reports an error of the adapter to the recorder's `onError` or, without one, to the console once per kind.
   *
   * @param kind - subject of the error, such as the name of an option
   */
  failed(kind: string, error: Error): void {
    this.#target.failed(`${this.identity.framework}-${kind}`, error);
  }

  /** Calls `recorder.session` under this adapter's identity. */
  session(id?: string): RecorderSession {
    return new RecorderSession(id ?? createEventId(Date.now()), this);
  }
}
