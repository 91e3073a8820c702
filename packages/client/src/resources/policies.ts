import { type BodyOf, type ItemOf, maxWaitSeconds, type QueryOf, type ResponseOf } from '@actlog/protocol';
import type { Caller } from '../caller.ts';
import { List } from '../list.ts';
import type { ListOptions, RequestOptions } from '../request-options.ts';
import type { RequestPromise } from '../request-promise.ts';
import { shown } from '../shown.ts';

/** Options of a check. */
export interface CheckOptions extends RequestOptions {
  /**
   * How long the service may hold the answer for a person's decision, in seconds, 1 to 25; sent as `Prefer: wait`
   * (RFC 7240, section 4.3). The try's time limit grows by as much. Default: it answers at once.
   */
  readonly waitSeconds?: number | undefined;
  /**
   * Asks what would be decided, and leaves nothing behind: nothing is counted, held or recorded, and nobody is told.
   * Sent as `Prefer: dry-run`; a service that does not know it decides as always. Default false.
   */
  readonly dryRun?: boolean | undefined;
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
    const { waitSeconds, dryRun, ...asked } = options;
    if (dryRun) asked.headers = { prefer: 'dry-run', ...asked.headers };
    else if (waitSeconds !== undefined) {
      if (!Number.isInteger(waitSeconds) || waitSeconds < 1 || waitSeconds > maxWaitSeconds) {
        return this.#caller.refuse(
          `waitSeconds must be a whole number from 1 to ${maxWaitSeconds}, and is ${shown(waitSeconds)}.`,
        );
      }
      asked.timeoutMs = (asked.timeoutMs ?? this.#timeoutMs) + waitSeconds * 1000;
      asked.headers = { prefer: `wait=${waitSeconds}`, ...asked.headers };
    }
    return this.#caller.call('policies.check', { body, options: asked });
  }
}
