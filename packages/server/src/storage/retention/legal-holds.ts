import type { Insertable, Selectable } from 'kysely';
import { lockRows } from '../locks.ts';
import { lockLog } from '../log/tenant-log.ts';
import type { LegalHoldTable } from '../tables.ts';
import { type Database, oneOf } from '../transaction.ts';

/** A stored legal hold. */
export type LegalHoldRow = Selectable<LegalHoldTable>;

/** Maximum legal holds of a tenant that are in force. Each deletion is compared with all of them. */
export const maxLegalHolds = 1000;

/**
 * Adds a legal hold. Whatever deletes records takes the same lock first, and looks for holds under it. So nothing that
 * the hold covers when this transaction has committed is deleted.
 *
 * @throws RangeError when there are too many
 */
export async function insertLegalHold(db: Database, row: Insertable<LegalHoldTable>): Promise<void> {
  await lockLog(db, row.tenant_id);
  if ((await activeHolds(db, row.tenant_id)).count >= maxLegalHolds) {
    throw new RangeError(`A tenant can have at most ${maxLegalHolds} legal holds in force; release some.`);
  }
  await db.insertInto('legal_holds').values(row).execute();
}

/** Returns a legal hold, locked until the transaction ends; `undefined` if there is none. */
export async function lockLegalHold(
  db: Database,
  tenantId: number,
  id: string,
): Promise<LegalHoldRow | undefined> {
  const ofId = db
    .selectFrom('legal_holds')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id);
  return lockRows(db, ofId).executeTakeFirst();
}

/** Releases a legal hold, which must be locked. The next cleanup looks again at what it covered. */
export async function releaseLegalHold(
  db: Database,
  { tenant_id: tenantId, id }: Pick<LegalHoldRow, 'tenant_id' | 'id'>,
  release: Pick<LegalHoldRow, 'released_ms' | 'released_by' | 'released_principal'>,
): Promise<void> {
  await db
    .updateTable('legal_holds')
    .set(release)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute();
  await db.deleteFrom('retention_positions').where('tenant_id', '=', tenantId).execute();
}

/** Returns a tenant's legal holds, newest first, and one more than `limit` if there are more. */
export function listLegalHolds(
  db: Database,
  tenantId: number,
  {
    isActive,
    afterId,
    limit,
  }: { isActive?: boolean | undefined; afterId?: string | undefined; limit: number },
): Promise<LegalHoldRow[]> {
  let query = db.selectFrom('legal_holds').selectAll().where('tenant_id', '=', tenantId);
  if (isActive !== undefined) query = query.where('released_ms', isActive ? 'is' : 'is not', null);
  if (afterId !== undefined) query = query.where('id', '<', afterId);
  return query
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
}

/** A record that a legal hold may cover. */
export interface HoldableRecord {
  readonly sessionId: string | null;
  /** Agents that it is about; `undefined` if only the agents of its session are known. */
  readonly agentIds: readonly string[] | undefined;
  /** Times of its first and its last part, in Unix milliseconds. */
  readonly fromMs: number;
  readonly toMs: number;
  /** `true` for an entry of the audit log, which is about no agent or session alone: every hold of its time covers it. */
  readonly isAudit?: boolean;
}

/** Returns the legal holds of a tenant that are in force. Deletions must take the lock of the log before. */
export async function activeHolds(db: Database, tenantId: number): Promise<ActiveHolds> {
  const rows = await db
    .selectFrom('legal_holds')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('released_ms', 'is', null)
    .orderBy('id')
    .execute();
  return new ActiveHolds(db, tenantId, rows);
}

/** The legal holds of a tenant that are in force. */
export class ActiveHolds {
  readonly #db: Database;
  readonly #tenantId: number;
  readonly #holds: readonly LegalHoldRow[];

  constructor(db: Database, tenantId: number, holds: readonly LegalHoldRow[]) {
    this.#db = db;
    this.#tenantId = tenantId;
    this.#holds = holds;
  }

  get count(): number {
    return this.#holds.length;
  }

  get first(): LegalHoldRow | undefined {
    return this.#holds[0];
  }

  /** `true` if a hold covers some time only, so that the times of records matter. */
  get hasPeriod(): boolean {
    return this.#holds.some(({ since_ms: since, until_ms: until }) => since !== null || until !== null);
  }

  /** Returns the first hold that covers each of the records, without those that none covers. */
  async covering<Held extends HoldableRecord>(records: readonly Held[]): Promise<Map<Held, LegalHoldRow>> {
    const found = new Map<Held, LegalHoldRow>();
    if (this.#holds.length === 0) return found;
    const agents = await this.#agentsOf(records);
    for (const record of records) {
      const hold = this.#holds.find((candidate) => covers(candidate, record, agents));
      if (hold) found.set(record, hold);
    }
    return found;
  }

  /** Returns the agents of the records' sessions that a hold names, by session, and sessions without a known agent. */
  async #agentsOf(records: readonly HoldableRecord[]): Promise<SessionAgents> {
    const held = [...new Set(this.#holds.flatMap(({ agent_id: id }) => id ?? []))];
    const sessionIds = [...new Set(records.flatMap(({ sessionId }) => sessionId ?? []))];
    const known = new Map<string, Set<string>>();
    if (held.length === 0 || sessionIds.length === 0) return known;
    const rows = await this.#db
      .selectFrom('session_agents')
      .select(['session_id', 'agent_id'])
      .where('tenant_id', '=', this.#tenantId)
      .where(oneOf(this.#db, 'session_id', JSON.stringify(sessionIds)))
      .execute();
    for (const { session_id: id, agent_id: agent } of rows) {
      known.set(id, (known.get(id) ?? new Set()).add(agent));
    }
    return known;
  }
}

type SessionAgents = ReadonlyMap<string, ReadonlySet<string>>;

function covers(hold: LegalHoldRow, record: HoldableRecord, agents: SessionAgents): boolean {
  if (hold.since_ms !== null && record.toMs < hold.since_ms) return false;
  if (hold.until_ms !== null && record.fromMs >= hold.until_ms) return false;
  if (record.isAudit) return true;
  if (hold.session_id !== null && hold.session_id !== record.sessionId) return false;
  if (hold.agent_id === null) return true;
  if (record.agentIds?.includes(hold.agent_id)) return true;
  const ofSession = record.sessionId === null ? undefined : agents.get(record.sessionId);
  // If nobody knows the agents, the record may be about this one.
  return ofSession ? ofSession.has(hold.agent_id) : record.agentIds === undefined;
}
