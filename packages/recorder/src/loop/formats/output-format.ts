import type { RequestedCall } from '../requested-call.ts';
import type { CallResult } from '../run-call.ts';

/** Format in which a provider's API has calls and takes their results. */
export interface OutputFormat {
  /** Returns the calls that a model's output requests; undefined if it has none in this format. */
  readonly callsIn: (output: object) => RequestedCall[] | undefined;
  /** Returns the messages that the loop sends to the model for the results of an output's calls. */
  readonly messagesOf: (results: readonly CallResult[]) => unknown[];
}
