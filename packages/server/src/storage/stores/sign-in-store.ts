import type { Insertable, Selectable } from 'kysely';
import { type OldRows, oldRows } from '../retention/drop-rows.ts';
import { querySliceWithin, type Slice } from '../slices.ts';
import type { SignInTable } from '../tables.ts';
import type { Database } from '../transaction.ts';

/** A stored sign-in of a person. */
export type SignInRow = Selectable<SignInTable>;

/** Adds a sign-in. */
export async function insertSignIn(db: Database, row: Insertable<SignInTable>): Promise<void> {
  await db.insertInto('sign_ins').values(row).execute();
}

/** Returns the sign-in with a digest, of any tenant, or `undefined` if there is none. */
export function findSignIn(db: Database, digest: string): Promise<SignInRow | undefined> {
  return db.selectFrom('sign_ins').selectAll().where('digest', '=', digest).executeTakeFirst();
}

/** Records that a sign-in was used. A later time that is already recorded stays. */
export async function recordSignInUse(
  db: Database,
  { tenant_id: tenantId, id }: Pick<SignInRow, 'tenant_id' | 'id'>,
  usedMs: number,
): Promise<void> {
  await db
    .updateTable('sign_ins')
    .set({ last_used_ms: usedMs })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('last_used_ms', '<', usedMs)
    .execute();
}

/** Deletes a sign-in, and returns it; `undefined` if there is none. */
export function dropSignIn(db: Database, tenantId: number, id: string): Promise<SignInRow | undefined> {
  return db
    .deleteFrom('sign_ins')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** Returns the newest sign-ins of a tenant that have not ended, newest first. */
export function listSignIns(
  db: Database,
  {
    tenantId,
    nowMs,
    idleMs,
    limit,
  }: {
    readonly tenantId: number;
    readonly nowMs: number;
    /** Time without use after which a sign-in has ended, in milliseconds. */
    readonly idleMs: number;
    readonly limit: number;
  },
): Promise<Slice<SignInRow>> {
  const signedIn = db
    .selectFrom('sign_ins')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('expires_ms', '>', nowMs)
    .where('last_used_ms', '>', nowMs - idleMs)
    .orderBy('id', 'desc');
  return querySliceWithin(limit, ['name', 'user_id'], signedIn);
}

/** Describes the sign-ins of all tenants that have ended. */
export function oldSignIns(nowMs: number): OldRows {
  return oldRows({ table: 'sign_ins', key: ['id'], age: 'expires_ms', beforeMs: nowMs });
}
