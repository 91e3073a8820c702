import type { EndpointName } from '@actlog/protocol';
import type { Selectable } from 'kysely';
import type { Tables } from '../schema.ts';
import type { Database } from '../transaction.ts';

/** Time for which a response is kept for repeats, in milliseconds (reference profile). */
export const responsesKeptForMs: number = 24 * 3_600_000;

/** A stored response. */
export type ResponseRow = Selectable<Tables['idempotency_keys']>;

/** Identity of a stored response. */
export type ResponsePlace = Pick<ResponseRow, 'tenant_id' | 'endpoint' | 'key'>;

/** Returns a response that is still kept, or `undefined` if there is none. */
export function findStoredResponse(
  db: Database,
  { tenant_id: tenantId, endpoint, key }: ResponsePlace,
  nowMs: number,
): Promise<Pick<ResponseRow, 'request_digest' | 'response'> | undefined> {
  return db
    .selectFrom('idempotency_keys')
    .select(['request_digest', 'response'])
    .where('tenant_id', '=', tenantId)
    .where('endpoint', '=', endpoint)
    .where('key', '=', key)
    .where('created_ms', '>', nowMs - responsesKeptForMs)
    .executeTakeFirst();
}

/** Stores a response, in place of one that is no longer kept. */
export async function saveResponse(db: Database, row: ResponseRow): Promise<void> {
  const { tenant_id: _, endpoint: _endpoint, key: _key, ...changes } = row;
  await db
    .insertInto('idempotency_keys')
    .values(row)
    .onConflict((conflict) => conflict.columns(['tenant_id', 'endpoint', 'key']).doUpdateSet(changes))
    .execute();
}

/** Stores a response unless there is one. Returns `false` if there is. */
export async function addStoredResponse(db: Database, row: ResponseRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows: added = 0n } = await db
    .insertInto('idempotency_keys')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return added > 0n;
}

/** Deletes the stored responses of a tenant for one endpoint, so that a repeat counts as a new request. */
export async function deleteStoredResponses(
  db: Database,
  tenantId: number,
  endpoint: EndpointName,
): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where('tenant_id', '=', tenantId)
    .where('endpoint', '=', endpoint)
    .execute();
}
