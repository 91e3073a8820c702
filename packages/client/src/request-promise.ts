import type { Outcome } from './call.ts';

/** The result of a call together with the answer that it came from. */
export interface WithResponse<Data> {
  readonly data: Data;
  /** The answer; its body, as text or JSON, can still be read. */
  readonly response: Response;
  /** The answer's `x-request-id`: names the request in the server's logs. */
  readonly requestId: string | undefined;
  /** How many times the request was tried. */
  readonly attempts: number;
}

/**
 * The promise of a call. Await it for the result; ask it for the answer behind the result. The request goes out at
 * once and only once, whatever is asked.
 */
export class RequestPromise<Data> implements Promise<Data> {
  readonly #outcome: Promise<Outcome<Data>>;
  #data: Promise<Data> | undefined;

  /** @internal */
  constructor(outcome: Promise<Outcome<Data>>) {
    this.#outcome = outcome;
  }

  get [Symbol.toStringTag](): string {
    return 'RequestPromise';
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise
  then<Result = Data, Failure = never>(
    onFulfilled?: ((data: Data) => Result | PromiseLike<Result>) | null,
    // biome-ignore lint/suspicious/noExplicitAny: as the platform's own promise has it
    onRejected?: ((reason: any) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    // The functions are passed on as they are: V8 then finds the way from an error back to the caller's `await`.
    this.#data ??= this.#outcome.then(dataOf);
    return this.#data.then(onFulfilled, onRejected);
  }

  catch<Failure = never>(
    // biome-ignore lint/suspicious/noExplicitAny: as the platform's own promise has it
    onRejected?: ((reason: any) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Data | Failure> {
    return this.then(undefined, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<Data> {
    return this.then().finally(onFinally);
  }

  /** The result together with the answer: status, headers, request id. */
  async withResponse(): Promise<WithResponse<Data>> {
    const { data, answer } = await this.#outcome;
    const { requestId, attempt } = answer;
    return { data, response: answer.toResponse(), requestId, attempts: attempt };
  }

  /** The answer alone, as the platform's own `Response`. Its body was read in whole, within the call's limits. */
  async asResponse(): Promise<Response> {
    const { answer } = await this.#outcome;
    return answer.toResponse();
  }
}

function dataOf<Data>({ data }: Outcome<Data>): Data {
  return data;
}
