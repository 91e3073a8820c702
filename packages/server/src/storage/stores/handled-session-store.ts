import type { Selectable } from 'kysely';
import type { Database } from '../transaction.ts';
import type { HandledSessionTable } from './judgment-schema.ts';

/** The handling of a session. */
export type HandledSessionRow = Selectable<HandledSessionTable>;

/** Returns the handling of a session, or `undefined` if nobody handled it. */
export function findHandling(
  db: Database,
  tenantId: number,
  sessionId: string,
): Promise<HandledSessionRow | undefined> {
  return db
    .selectFrom('handled_sessions')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
}

/** Stores the handling of a session, instead of an earlier one. */
export async function saveHandling(db: Database, row: HandledSessionRow): Promise<void> {
  const { tenant_id: _tenant, session_id: _session, ...changes } = row;
  await db
    .insertInto('handled_sessions')
    .values(row)
    .onConflict((conflict) => conflict.columns(['tenant_id', 'session_id']).doUpdateSet(changes))
    .execute();
}

/** Deletes the handling of a session. Returns `true` if there was one. */
export async function dropHandling(db: Database, tenantId: number, sessionId: string): Promise<boolean> {
  const result = await db
    .deleteFrom('handled_sessions')
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** `true` if the session is handled: its score has not risen since. */
export function isHandled(handling: Pick<HandledSessionRow, 'score'>, score: number | null): boolean {
  return Math.floor(score ?? 0) <= handling.score;
}
