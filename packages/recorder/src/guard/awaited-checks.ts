import type { Actlog } from '@actlog/client';
import type { PolicyCheck } from '@actlog/protocol';
import { isImmediateFaked } from '../delivery/is-immediate-faked.ts';
import type { CheckOptions, PolicyChecker } from './policy-checks.ts';

/**
 * Checks through the client, except while a test fakes timers: these block the client's connections, so that other ones
 * are used.
 */
export class AwaitedChecks implements PolicyChecker {
  readonly #client: Actlog;
  readonly #others: PolicyChecker;

  constructor(client: Actlog, others: PolicyChecker) {
    this.#client = client;
    this.#others = others;
  }

  check(body: PolicyCheck, options: CheckOptions): PromiseLike<unknown> {
    const { policies, usesDefaultPool } = this.#client;
    return (usesDefaultPool && isImmediateFaked() ? this.#others : policies).check(body, options);
  }
}
