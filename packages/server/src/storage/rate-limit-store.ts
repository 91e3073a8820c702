import type { Database } from './transaction.ts';

/** A rate: so many requests a second on average, so many at once. */
export interface Rate {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

/** What the shared record says of a request for some of a rate. */
export interface RateTaken {
  readonly isTaken: boolean;
  /** Requests that could still be taken at once. */
  readonly remaining: number;
  /** Milliseconds until as many as were asked for can be taken; 0 when they were. */
  readonly retryAfterMs: number;
}

/** Milliseconds that the clocks of the processes of a deployment may differ. */
const clockSkewMs = 10_000;

/**
 * Takes `cost` requests of a rate at once, or none, by the generic cell rate algorithm (ITU-T I.371): one number a
 * subject, the time at which its next request would arrive if it came evenly.
 */
export async function takeFromRate(
  db: Database,
  tenantId: number,
  subject: string,
  { requestsPerSecond, burst }: Rate,
  cost: number,
  nowMs: number,
): Promise<RateTaken> {
  const intervalMs = 1000 / requestsPerSecond;
  const row = await db
    .selectFrom('rate_limits')
    .select('theoretical_arrival_ms')
    .where('tenant_id', '=', tenantId)
    .where('subject', '=', subject)
    .executeTakeFirst();
  const storedMs = row?.theoretical_arrival_ms ?? nowMs;
  // Nobody can be further ahead than the burst: what is, was written before a clock jumped back.
  const hasJumped = storedMs > nowMs + burst * intervalMs + clockSkewMs;
  const arrivalMs = hasJumped ? nowMs : Math.max(storedMs, nowMs);
  const nextArrivalMs = arrivalMs + cost * intervalMs;
  const retryAfterMs = nextArrivalMs - burst * intervalMs - nowMs;
  // Half an interval of slack: sums of fractions do not come out even.
  if (retryAfterMs > intervalMs / 2) {
    return { isTaken: false, remaining: roomAt(arrivalMs), retryAfterMs };
  }
  await db
    .insertInto('rate_limits')
    .values({ tenant_id: tenantId, subject, theoretical_arrival_ms: nextArrivalMs })
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'subject']).doUpdateSet({ theoretical_arrival_ms: nextArrivalMs }),
    )
    .execute();
  return { isTaken: true, remaining: roomAt(nextArrivalMs), retryAfterMs: 0 };

  function roomAt(timeMs: number): number {
    return Math.max(0, Math.floor((burst * intervalMs - (timeMs - nowMs)) / intervalMs + 0.5));
  }
}
