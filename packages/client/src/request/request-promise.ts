import type { ApiResponse } from '../response/api-response.ts';

/** Result of a call and the response it came from. */
export interface Outcome<Data> {
  readonly data: Data;
  readonly response: ApiResponse;
}

/** Result of a call together with its response. */
export interface WithResponse<Data> {
  readonly data: Data;
  /** The response. Its body can still be read, as text or JSON. */
  readonly response: Response;
  /** Value of the `x-request-id` header, which identifies the request in the server's logs. */
  readonly requestId: string | undefined;
  /** Number of attempts made. */
  readonly attempts: number;
}

/**
 * Promise of a call. Await it for the result, or use its methods to get the response too. The request is sent
 * immediately and only once, whichever methods are used.
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
    // Pass the functions on unchanged, so that V8 can link an error's stack trace to the caller's `await`.
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

  /**
   * Gives the result another type, for a service whose records have other fields. Nothing is checked.
   *
   * @example
   * ```ts
   * const agent = await client.agents.get(1042).as<{ number: number; displayName: string }>();
   * ```
   */
  as<Other>(): RequestPromise<Other> {
    return this as unknown as RequestPromise<Other>;
  }

  /**
   * Returns the result with its response: status, headers and request id.
   *
   * @example
   * ```ts
   * const { data, requestId, attempts } = await client.agents.get('billing').withResponse();
   * ```
   */
  async withResponse(): Promise<WithResponse<Data>> {
    const { data, response } = await this.#outcome;
    const { requestId, attempt } = response;
    return { data, response: response.toResponse(), requestId, attempts: attempt };
  }

  /**
   * Returns only the response, as the platform's own `Response`. The body has been read completely, within the call's
   * limits.
   *
   * @example
   * ```ts
   * const response = await client.agents.get('billing').asResponse();
   * console.log(response.headers.get('date'));
   * ```
   */
  async asResponse(): Promise<Response> {
    const { response } = await this.#outcome;
    return response.toResponse();
  }
}

function dataOf<Data>({ data }: Outcome<Data>): Data {
  return data;
}
