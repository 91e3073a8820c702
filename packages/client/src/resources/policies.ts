import { type BodyOf, type ItemOf, maxWaitSeconds, type QueryOf, type ResponseOf } from '@actlog/protocol';
import { describeValue } from '../describe-value.ts';
import { List } from '../pagination/list.ts';
import type { EndpointCaller } from '../request/endpoint-caller.ts';
import type { ListOptions, RequestOptions } from '../request/request-options.ts';
import type { RequestPromise } from '../request/request-promise.ts';

/** Options of a check. */
export interface CheckOptions extends RequestOptions {
  /**
   * Time that the service may wait for a person's decision before it responds, in seconds, 1 to 25. Sent as `Prefer:
   * wait` (RFC 7240, section 4.3). Extends the time limit of each attempt accordingly. Default: the service responds at
   * once.
   */
  readonly waitSeconds?: number | undefined;
  /**
   * Returns the decision without side effects: nothing is counted, held or recorded, and nobody is notified. Sent as
   * `Prefer: dry-run`; a service that does not support it decides as usual. Default false.
   */
  readonly dryRun?: boolean | undefined;
}

/** Policies that proposed actions are checked against. */
export class Policies {
  readonly #caller: EndpointCaller;
  readonly #timeoutMs: number;

  /** @internal */
  constructor(caller: EndpointCaller, timeoutMs: number) {
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
   * Changes the given fields of a policy: `PATCH /v1/policies/:id`. If the service responds without a body, the result
   * has only the `id`.
   */
  update(
    id: string,
    body: BodyOf<'policies.update'>,
    options?: RequestOptions,
  ): RequestPromise<ResponseOf<'policies.update'>> {
    return this.#caller.call('policies.update', { id, body, options });
  }

  /**
   * Archives a policy: `DELETE /v1/policies/:id`. It no longer matches, but remains readable on the reference server.
   * If the service responds without a body, the result has only the `id`.
   */
  archive(id: string, options?: RequestOptions): RequestPromise<ResponseOf<'policies.archive'>> {
    return this.#caller.call('policies.archive', { id, options });
  }

  /** Checks a proposed action against the policies: `POST /v1/policies/check`. */
  check(
    body: BodyOf<'policies.check'>,
    options: CheckOptions = {},
  ): RequestPromise<ResponseOf<'policies.check'>> {
    const { waitSeconds, dryRun, ...requestOptions } = options;
    if (dryRun) requestOptions.headers = { prefer: 'dry-run', ...requestOptions.headers };
    else if (waitSeconds !== undefined) {
      if (!Number.isInteger(waitSeconds) || waitSeconds < 1 || waitSeconds > maxWaitSeconds) {
        return this.#caller.refuse(
          `waitSeconds must be an integer from 1 to ${maxWaitSeconds}, got ${describeValue(waitSeconds)}.`,
        );
      }
      requestOptions.timeoutMs = (requestOptions.timeoutMs ?? this.#timeoutMs) + waitSeconds * 1000;
      requestOptions.headers = { prefer: `wait=${waitSeconds}`, ...requestOptions.headers };
    }
    return this.#caller.call('policies.check', { body, options: requestOptions });
  }
}
