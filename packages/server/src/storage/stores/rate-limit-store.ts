import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../transaction.ts';

/** A rate: an average number of requests per second, and a maximum burst. */
export interface Rate {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

/** Result of a request to the shared rate limit. */
export interface RateTaken {
  readonly isTaken: boolean;
  /** Requests that could still be made at once. */
  readonly remaining: number;
  /** Milliseconds until `cost` requests can be made; 0 when they were. */
  readonly retryAfterMs: number;
}

/** Maximum difference between the clocks of a deployment's processes, in milliseconds. */
const clockSkewMs = 10_000;

/**
 * Takes all of `cost` requests from a rate, or none, by the generic cell rate algorithm (ITU-T I.371). `cost` is at
 * most the burst. The algorithm stores one number per subject: the time at which its next request would arrive if its
 * requests came evenly. One statement checks and updates it, so racing processes never exceed the rate.
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
  const burstMs = burst * intervalMs;
  // Half an interval of tolerance, for rounding errors in sums of fractions.
  const latestMs = nowMs + burstMs + intervalMs / 2;
  const takenMs = cost * intervalMs;
  const current = arrivalSql(nowMs, burstMs);
  const taken = await db
    .insertInto('rate_limits')
    .values({ tenant_id: tenantId, subject, theoretical_arrival_ms: nowMs + takenMs })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'subject'])
        .doUpdateSet({ theoretical_arrival_ms: sql<number>`${current} + ${double(takenMs)}` })
        .where(sql<boolean>`${current} + ${double(takenMs)} <= ${double(latestMs)}`),
    )
    .returning('theoretical_arrival_ms')
    .executeTakeFirst();
  if (!taken) return refused(await arrivalMs(db, tenantId, subject, nowMs, burstMs));
  return { isTaken: true, remaining: roomAt(taken.theoretical_arrival_ms), retryAfterMs: 0 };

  function refused(currentMs: number): RateTaken {
    const retryAfterMs = Math.max(1, currentMs + takenMs - burstMs - nowMs);
    return { isTaken: false, remaining: roomAt(currentMs), retryAfterMs };
  }

  function roomAt(timeMs: number): number {
    return Math.max(0, Math.floor((burstMs - (timeMs - nowMs)) / intervalMs + 0.5));
  }
}

/**
 * Returns the theoretical arrival to use: at least now, and reset to now when it is further ahead than the burst
 * allows, which means that a clock jumped back after it was written.
 */
function arrivalSql(nowMs: number, burstMs: number): RawBuilder<number> {
  const stored = sql.ref('rate_limits.theoretical_arrival_ms');
  const now = double(nowMs);
  return sql`case when ${stored} > ${double(nowMs + burstMs + clockSkewMs)} or ${stored} < ${now} then ${now} else ${stored} end`;
}

/** Casts a parameter, so that PostgreSQL never infers an integer. */
function double(value: number): RawBuilder<number> {
  return sql`cast(${value} as double precision)`;
}

async function arrivalMs(
  db: Database,
  tenantId: number,
  subject: string,
  nowMs: number,
  burstMs: number,
): Promise<number> {
  const row = await db
    .selectFrom('rate_limits')
    .select(arrivalSql(nowMs, burstMs).as('arrival_ms'))
    .where('tenant_id', '=', tenantId)
    .where('subject', '=', subject)
    .executeTakeFirst();
  return row?.arrival_ms ?? nowMs;
}
