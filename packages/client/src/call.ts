import type { Answer, RequestName } from './answer.ts';
import type { BodySink } from './body-sink.ts';
import type { RequestOptions } from './request-options.ts';

/** One call, ready to be sent as often as it takes. */
export interface Call<Data> extends RequestName {
  /** Path prefix, path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Whether it may be sent again when nobody knows whether it arrived. */
  readonly repeatable: boolean;
  readonly options: RequestOptions;
  /** Makes the result from an answer of success. */
  readonly read: (answer: Answer) => Data | Promise<Data>;
  /**
   * Where the body of a successful answer goes instead of into memory, asked for anew at each try. `timeoutMs` then
   * bounds the silence between two pieces, not the whole: a large body may take its time.
   */
  readonly openSink?: () => BodySink;
}

/** What a call came to. */
export interface Outcome<Data> {
  readonly data: Data;
  readonly answer: Answer;
}
