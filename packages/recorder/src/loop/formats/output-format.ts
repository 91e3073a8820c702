import type { CallResult, RequestedCall } from '../run-call.ts';

/** Format in which a provider's API has calls and takes their results. */
export interface OutputFormat {
  /** Returns the calls that a model's output requests; undefined if it has none in this format. */
  readonly callsIn: (output: object) => RequestedCall[] | undefined;
  /** Returns the messages that the loop sends to the model for the results of an output's calls. */
  readonly messagesOf: (results: readonly CallResult[]) => unknown[];
}

/** A call of any other provider. */
export interface PlainCall {
  readonly id?: string | undefined;
  readonly name: string;
  /** An object, or its JSON text. */
  readonly arguments?: unknown;
}

export const plainFormat: OutputFormat = {
  callsIn: (output) =>
    Array.isArray(output)
      ? (output as readonly PlainCall[]).map(({ id, name, arguments: given }) => ({
          id,
          name,
          arguments: given,
        }))
      : undefined,
  messagesOf: (results) => [...results],
};
