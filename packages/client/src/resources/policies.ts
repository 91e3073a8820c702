import {
  type CheckResult,
  maxWaitSeconds,
  type Policy,
  type PolicyCheck,
  type PolicyCreate,
  type PolicyUpdate,
  type QueryOf,
} from '@actlog/protocol';
import { invalidValue } from '../errors/actlog-error.ts';
import { List } from '../pagination/list.ts';
import type { RecordId } from '../records/id-of.ts';
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

  /**
   * Creates a policy: `POST /v1/policies`.
   *
   * @example
   * ```ts
   * await client.policies.create({
   *   name: 'refunds need approval',
   *   effect: 'require_approval',
   *   match: { tools: ['refund*'] },
   * });
   * ```
   */
  create(body: PolicyCreate, options?: RequestOptions): RequestPromise<Policy> {
    return this.#caller.call('policies.create', { body, options });
  }

  /**
   * Lists policies: `GET /v1/policies`.
   *
   * @example
   * ```ts
   * for await (const policy of client.policies.list({ status: 'active' })) console.log(policy.name);
   * ```
   */
  list(query: QueryOf<'policies.list'> = {}, options: ListOptions = {}): List<Policy> {
    return new List(this.#caller, { endpoint: 'policies.list', query, options });
  }

  /**
   * Gets a policy: `GET /v1/policies/:id`.
   *
   * @example
   * ```ts
   * const policy = await client.policies.get('pol_0198c1d2e3f47a5b8c6d7e8f90a1b2c3');
   * console.log(policy.name, policy.effect);
   * ```
   */
  get(id: RecordId, options?: RequestOptions): RequestPromise<Policy> {
    return this.#caller.call('policies.get', { id, options });
  }

  /**
   * Changes the given fields of a policy: `PATCH /v1/policies/:id`. If the service responds without a body, the result
   * has only the `id`.
   *
   * @example
   * ```ts
   * await client.policies.update('pol_0198c1d2e3f47a5b8c6d7e8f90a1b2c3', { mode: 'enforce' });
   * ```
   */
  update(id: RecordId, body: PolicyUpdate, options?: RequestOptions): RequestPromise<Policy> {
    return this.#caller.call('policies.update', { id, body, options });
  }

  /**
   * Archives a policy: `DELETE /v1/policies/:id`. It no longer matches, but remains readable on the reference server.
   * If the service responds without a body, the result has only the `id`.
   *
   * @example
   * ```ts
   * await client.policies.archive('pol_0198c1d2e3f47a5b8c6d7e8f90a1b2c3');
   * ```
   */
  archive(id: RecordId, options?: RequestOptions): RequestPromise<Policy> {
    return this.#caller.call('policies.archive', { id, options });
  }

  /**
   * Checks a proposed action against the policies: `POST /v1/policies/check`.
   *
   * @example
   * ```ts
   * const { decision } = await client.policies.check({
   *   agentId: 'billing',
   *   action: { toolName: 'refund', argumentsHash: 'sha256:9f86d081884c7d65' },
   * });
   * if (decision !== 'allow') console.log('not allowed');
   * ```
   */
  check(body: PolicyCheck, options: CheckOptions = {}): RequestPromise<CheckResult> {
    const { waitSeconds, dryRun, ...requestOptions } = options;
    if (dryRun) requestOptions.headers = { prefer: 'dry-run', ...requestOptions.headers };
    else if (waitSeconds !== undefined) {
      if (!Number.isInteger(waitSeconds) || waitSeconds < 1 || waitSeconds > maxWaitSeconds) {
        return this.#caller.refuse(
          invalidValue('waitSeconds', `an integer from 1 to ${maxWaitSeconds}`, waitSeconds),
        );
      }
      requestOptions.timeoutMs = (requestOptions.timeoutMs ?? this.#timeoutMs) + waitSeconds * 1000;
      requestOptions.headers = { prefer: `wait=${waitSeconds}`, ...requestOptions.headers };
    }
    return this.#caller.call('policies.check', { body, options: requestOptions });
  }
}
