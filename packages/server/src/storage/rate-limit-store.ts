import { type RawBuilder, sql } from 'kysely';
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
 * Takes `cost` requests of a rate, at most its burst, at once or none, by the generic cell rate algorithm (ITU-T I.371): one number a
 * subject, the time at which its next request would arrive if it came evenly. One statement looks and takes, so that
 * of racing processes none takes what another has taken.
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
  // Half an interval of slack: sums of fractions do not come out even.
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
 * The arrival that counts now: never before now; and nobody can be further ahead than the burst, so what is, was
 * written before a clock jumped back.
 */
function arrivalSql(nowMs: number, burstMs: number): RawBuilder<number> {
  const stored = sql.ref('rate_limits.theoretical_arrival_ms');
  const now = double(nowMs);
  return sql`case when ${stored} > ${double(nowMs + burstMs + clockSkewMs)} or ${stored} < ${now} then ${now} else ${stored} end`;
}

/** A parameter that PostgreSQL takes for a number with a fraction, wherever it stands. */
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
