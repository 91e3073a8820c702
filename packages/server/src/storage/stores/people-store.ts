import type { Selectable } from 'kysely';
import { type OldRows, oldRows } from '../retention/drop-rows.ts';
import type { PersonTable, PushSubscriptionTable } from '../tables.ts';
import type { Database } from '../transaction.ts';

/** A stored person. */
export type PersonRow = Selectable<PersonTable>;

/** A stored subscription of a browser. */
export type PushSubscriptionRow = Selectable<PushSubscriptionTable>;

/** Stores a person as they signed in last. */
export async function savePerson(db: Database, row: PersonRow): Promise<void> {
  const { tenant_id: _tenant, id: _id, ...changes } = row;
  await db
    .insertInto('people')
    .values(row)
    .onConflict((conflict) => conflict.columns(['tenant_id', 'id']).doUpdateSet(changes))
    .execute();
}

/** Removes a person, so that they have to sign in before they act in a channel again. */
export async function dropPerson(db: Database, tenantId: number, id: string): Promise<void> {
  await db.deleteFrom('people').where('tenant_id', '=', tenantId).where('id', '=', id).execute();
}

/** Returns a person by their id, or `undefined` if there is none. */
export function findPerson(db: Database, tenantId: number, id: string): Promise<PersonRow | undefined> {
  return db
    .selectFrom('people')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Returns the people with a verified email address, in lower case: one, unless several accounts share it. */
export function peopleWithEmail(db: Database, tenantId: number, email: string): Promise<PersonRow[]> {
  return db
    .selectFrom('people')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('email', '=', email)
    .limit(2)
    .execute();
}

/** Returns the people of a tenant who signed in since a time. */
export function peopleSince(db: Database, tenantId: number, sinceMs: number): Promise<PersonRow[]> {
  return db
    .selectFrom('people')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('seen_ms', '>=', sinceMs)
    .execute();
}

/** Describes the people of all tenants who have not signed in since a time. */
export function oldPeople(beforeMs: number): OldRows {
  return oldRows({ table: 'people', key: ['id'], age: 'seen_ms', beforeMs });
}

/** Maximum browsers of one person. */
export const maxBrowsers = 20;

/** Adds a subscription, or replaces the one of the same browser. */
export async function saveSubscription(db: Database, row: PushSubscriptionRow): Promise<void> {
  const { tenant_id: _tenant, digest: _digest, ...changes } = row;
  await db
    .insertInto('push_subscriptions')
    .values(row)
    .onConflict((conflict) => conflict.columns(['tenant_id', 'digest']).doUpdateSet(changes))
    .execute();
}

/** Returns the subscriptions of a person, newest first; of all people if omitted. */
export function listSubscriptions(
  db: Database,
  tenantId: number,
  personId?: string,
): Promise<PushSubscriptionRow[]> {
  return db
    .selectFrom('push_subscriptions')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .$if(personId !== undefined, (query) => query.where('person_id', '=', personId as string))
    .orderBy('created_ms', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

/** Returns a subscription, or `undefined` if there is none. */
export function findSubscription(
  db: Database,
  tenantId: number,
  id: string,
): Promise<PushSubscriptionRow | undefined> {
  return db
    .selectFrom('push_subscriptions')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Deletes a subscription. */
export async function dropSubscription(db: Database, tenantId: number, id: string): Promise<void> {
  await db.deleteFrom('push_subscriptions').where('tenant_id', '=', tenantId).where('id', '=', id).execute();
}
