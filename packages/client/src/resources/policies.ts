import { type BodyOf, headers, type ItemOf, limits, type QueryOf, type ResponseOf } from '@actlog/protocol';
import type { Caller } from '../caller.ts';
import { List } from '../list.ts';
import type { ListOptions, RequestOptions } from '../request-options.ts';
import type { RequestPromise } from '../request-promise.ts';

/** Options of a check. */
export interface CheckOptions extends RequestOptions {
  /**
   * How long the service may hold the answer for a person's decision, in seconds, 1 to 25; sent as `Prefer: wait`
   * (RFC 7240, section 4.3). The try's time limit grows by as much. Default: it answers at once.
   */
  readonly waitSeconds?: number | undefined;
}

/** The policies that proposed actions are checked against. */
export class Policies {
  readonly #caller: Caller;
  readonly #timeoutMs: number;

  /** @internal */
  constructor(caller: Caller, timeoutMs: number) {
    this.#caller = caller;
    this.#timeoutMs = timeoutMs;
  }

  /** Creates a policy: `POST /v1/policies`. */
  create(
    body: BodyOf<'policies.create'>,
    options?: RequestOptions,
  ): RequestPromise<ResponseOf<'policies.create'>> {
    return this.#caller.call('policies.create', { body, options });
  }

  /** Lists policies: `GET /v1/policies`. */
  list(query: QueryOf<'policies.list'> = {}, options: ListOptions = {}): List<ItemOf<'policies.list'>> {
    return new List(this.#caller, { endpoint: 'policies.list', query, options });
  }

  /** Gets a policy: `GET /v1/policies/:id`. */
  get(id: string, options?: RequestOptions): RequestPromise<ResponseOf<'policies.get'>> {
    return this.#caller.call('policies.get', { id, options });
  }

  /**
   * Changes the named fields of a policy: `PATCH /v1/policies/:id`. From a service that answers without a body you get
   * the `id` alone.
   */
  update(
    id: string,
    body: BodyOf<'policies.update'>,
    options?: RequestOptions,
  ): RequestPromise<ResponseOf<'policies.update'>> {
    return this.#caller.call('policies.update', { id, body, options });
  }

  /**
   * Archives a policy: `DELETE /v1/policies/:id`. It is never matched again, and on the reference server it is still
   * read. From a service that answers without a body you get the `id` alone.
   */
  archive(id: string, options?: RequestOptions): RequestPromise<ResponseOf<'policies.archive'>> {
    return this.#caller.call('policies.archive', { id, options });
  }

  /** Checks a proposed action against the policies: `POST /v1/policies/check`. */
  check(
    body: BodyOf<'policies.check'>,
    options: CheckOptions = {},
  ): RequestPromise<ResponseOf<'policies.check'>> {
    const { waitSeconds, ...rest } = options;
    if (waitSeconds === undefined) return this.#caller.call('policies.check', { body, options });
    if (!Number.isInteger(waitSeconds) || waitSeconds < 1 || waitSeconds > limits.maxWaitSeconds) {
      return this.#caller.refuse(
        `waitSeconds must be a whole number from 1 to ${limits.maxWaitSeconds}, and is ${String(waitSeconds)}.`,
      );
    }
    const held = {
      ...rest,
      timeoutMs: (rest.timeoutMs ?? this.#timeoutMs) + waitSeconds * 1000,
      headers: { [headers.prefer]: `wait=${waitSeconds}`, ...rest.headers },
    };
    return this.#caller.call('policies.check', { body, options: held });
  }
}
