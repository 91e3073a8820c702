import { InvalidArgumentError } from '../errors/actlog-error.ts';
import type { ApiResponse, BodySink, RequestName } from '../response/api-response.ts';
import type { RequestOptions } from './request-options.ts';

/** A prepared call, which can be sent any number of times. */
export interface Call<Data> extends RequestName {
  /** Path prefix, path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** `true` if the request may be sent again when it is unknown whether the first one arrived. */
  readonly repeatable: boolean;
  readonly options: RequestOptions;
  /** Converts a successful response to the result of the call. */
  readonly read: (response: ApiResponse) => Data | Promise<Data>;
  /**
   * Creates a destination for the body of a successful response, instead of memory. Called once per attempt. With it,
   * `timeoutMs` limits the time between two chunks and not the whole body, so that large bodies may take longer.
   */
  readonly openSink?: () => BodySink;
}

/** Result of a call and the response it came from. */
export interface Outcome<Data> {
  readonly data: Data;
  readonly response: ApiResponse;
}

/**
 * Returns the signal after checking that it is an `AbortSignal`.
 *
 * @throws InvalidArgumentError When it is something else, such as the `AbortController` that owns it.
 */
export function checkedSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (!signal) return undefined;
  if (typeof signal.addEventListener === 'function') return signal;
  throw new InvalidArgumentError(
    'signal must be an AbortSignal: pass controller.signal, not the controller.',
  );
}
