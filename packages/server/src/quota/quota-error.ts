import { ApiError } from '../http/api-error.ts';
import { nextMonthOf } from '../storage/usage-store.ts';
import type { ExceededQuota, QuotaName } from './quota.ts';

/** Seconds after which to ask again where no time gives room, only a person or the retention. */
const askAgainSeconds = 3600;

const said: Record<QuotaName, string> = {
  eventsPerMonth: 'events a month',
  sessions: 'stored sessions',
  policies: 'active policies',
  channels: 'active webhooks',
};

const wayOut: Record<QuotaName, string> = {
  eventsPerMonth: 'The next month begins with a new one; else have the operator of the service raise it.',
  sessions: 'Sessions beyond the retention make room; else have the operator of the service raise it.',
  policies: 'Archive a policy, or have the operator of the service raise it.',
  channels: 'Have the operator of the service raise it.',
};

/** A request for more than the quota of the tenant has room for: nothing of it was stored. */
export class QuotaError extends ApiError {
  readonly quota: QuotaName;

  constructor({ quota, max }: ExceededQuota, nowMs: number) {
    const message = `The quota ${quota} of the tenant, ${max} ${said[quota]}, is used up. ${wayOut[quota]}`;
    // What has a session already can still be stored: the refusal is about the session that the event would begin.
    const path = quota === 'sessions' ? 'sessionId' : '';
    super('RATE_LIMITED', message, {
      details: [{ path, code: 'quota_exceeded', message: `exceeds the quota ${quota} of ${max}` }],
      retryAfterSeconds: quota === 'eventsPerMonth' ? (nextMonthOf(nowMs) - nowMs) / 1000 : askAgainSeconds,
    });
    this.quota = quota;
  }
}
