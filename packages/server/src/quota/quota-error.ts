import { ApiError } from '../lib/api-error.ts';
import type { ExceededQuota } from '../storage/stores/quota-store.ts';
import { type QuotaName, quotaDefinition } from '../storage/stores/quota-table.ts';
import { nextMonthOf } from '../storage/stores/usage-store.ts';

/** `Retry-After` in seconds for quotas that only a person or retention can free. */
const retryAfterSeconds = 3600;

/** Error thrown when a quota of the tenant is used up. Nothing of the request was stored. */
export class QuotaError extends ApiError {
  readonly quota: QuotaName;

  constructor({ quota, max }: ExceededQuota, nowMs: number) {
    const { unit, remedy, path } = quotaDefinition(quota);
    const message = [
      `The quota ${quota} of the tenant, ${max} ${unit}, is used up.`,
      ...(remedy === '' ? [] : [remedy]),
      'The operator of the service can raise it.',
    ].join(' ');
    super('RATE_LIMITED', message, {
      details: [{ path, code: 'quota_exceeded', message: `exceeds the quota ${quota} of ${max}` }],
      retryAfterSeconds: quota.endsWith('PerMonth') ? (nextMonthOf(nowMs) - nowMs) / 1000 : retryAfterSeconds,
    });
    this.quota = quota;
  }
}

/** Error thrown when a policy exceeds the tenant's remaining budget. It was not stored. */
export class PolicyCostError extends ApiError {
  readonly quota: QuotaName = 'policyCost';

  /** @param problem - cost of the policy, remaining budget, and remedy */
  constructor(problem: string) {
    super('RATE_LIMITED', problem, {
      details: [{ path: '', code: 'quota_exceeded', message: 'exceeds the quota policyCost' }],
      retryAfterSeconds,
    });
  }
}
