import { sql } from 'kysely';
import type { SessionSummary } from '../sessions/session-store.ts';
import type { Database } from '../transaction.ts';

/** A scored session, and the arrival up to which it had been scored when it was read. */
export interface AdvancedRisk {
  readonly summary: SessionSummary;
  readonly seenArrival: number;
}

/**
 * Writes the risk that lists show, for the sessions whose risk is unchanged since it was read. Of racing processes one
 * succeeds per session.
 *
 * @returns the current start of each session that was written, in Unix milliseconds, by its id.
 */
export async function advanceListedRisks(
  db: Database,
  tenantId: number,
  risks: readonly AdvancedRisk[],
): Promise<Map<string, number>> {
  if (risks.length === 0) return new Map();
  const given = risks.map(({ summary: { id, risk_score, risk_level, risk_arrival }, seenArrival }) => ({
    id,
    risk_score,
    risk_level,
    risk_arrival,
    seen_arrival: seenArrival,
  }));
  // Locks sessions in the order in which every transaction does. An agent that joins meanwhile brings an event, and
  // the event another round of scoring.
  const { rows } = await sql<{ id: string; started_ms: number }>`
    with given as materialized (
      select * from json_to_recordset(${JSON.stringify(given)}::json) as risk (
        id text, risk_score double precision, risk_level text, risk_arrival bigint, seen_arrival bigint
      )
    ), locked as materialized (
      select id from sessions where tenant_id = ${tenantId} and id in (select id from given) order by id for update
    ), advanced as (
      update sessions
      set risk_score = given.risk_score, risk_level = given.risk_level, risk_arrival = given.risk_arrival
      from given join locked on locked.id = given.id
      where sessions.tenant_id = ${tenantId} and sessions.id = given.id
        and sessions.risk_arrival = given.seen_arrival
      returning sessions.id, sessions.risk_score, sessions.started_ms
    ), of_agents as (
      update session_agents as acted
      set risk_score = advanced.risk_score
      from advanced
      where acted.tenant_id = ${tenantId} and acted.session_id = advanced.id
        and acted.risk_score is distinct from advanced.risk_score
    )
    select id, started_ms from advanced
  `.execute(db);
  return new Map(rows.map(({ id, started_ms: startedMs }) => [id, Number(startedMs)]));
}
