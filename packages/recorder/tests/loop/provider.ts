import type { RunCalls, RunCallsOptions } from '../../src/loop/index.ts';

/** A tool call of the scripted model. */
export interface ModelCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

/** Result of a call as the provider's API received it. */
export interface ReceivedResult {
  readonly text: string;
  readonly isError: boolean;
}

/** A hand-written loop over a provider's own client. */
export interface Conversation {
  /** The messages so far, in the provider's format. */
  readonly messages: readonly unknown[];
  /** The system prompt, where the provider's API does not have it among the messages. */
  readonly system?: RunCallsOptions['system'];
  /** Requests the next output of the model. */
  next(): Promise<{
    readonly calls: readonly (ModelCall & { readonly id: string })[];
    readonly text: string;
  }>;
  /** RunCalls the last output with the helper, and returns the number of messages that were appended. */
  runWith(runCalls: RunCalls, options: RunCallsOptions): Promise<number>;
  /** Does the same with results that the test has made itself. */
  append(results: readonly (ReceivedResult & { readonly id: string; readonly name: string })[]): void;
  /** Ends the client's connections. */
  close(): void;
}

/** A provider, its client, and the server in its place. */
export interface Provider {
  readonly name: string;
  /** Result of a request, as the provider's API sends it; without calls the model says `done`. */
  body(calls: readonly ModelCall[], turn: number): object;
  readonly isHttp2?: boolean;
  start(url: string, userText: string, systemText: string | undefined): Conversation;
  /** Returns the results of calls in the body of a request. */
  resultsIn(body: unknown): ReceivedResult[];
}
