import type { WebhookEventType } from '@actlog/protocol';
import { type Selectable, sql } from 'kysely';
import { lockRows } from '../locks.ts';
import { raiseSettingsVersion } from '../policies/policy-store.ts';
import { querySliceWithin, type Slice } from '../slices.ts';
import type { NotificationChannelTable } from '../tables.ts';
import type { Database } from '../transaction.ts';

/** A stored channel: a webhook, or one of another kind. */
export interface StoredChannel extends Omit<Selectable<NotificationChannelTable>, 'events'> {
  readonly events: readonly WebhookEventType[];
}

function storedChannel(row: Selectable<NotificationChannelTable>): StoredChannel {
  return { ...row, events: JSON.parse(row.events) as WebhookEventType[] };
}

/** Returns the active channels of a tenant, webhooks and others. */
export async function activeChannels(db: Database, tenantId: number): Promise<StoredChannel[]> {
  const rows = await db
    .selectFrom('notification_channels')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('status', '=', 'active')
    .execute();
  return rows.map(storedChannel);
}

/** Returns the number of active channels of a tenant. */
export function countActiveChannels(db: Database, tenantId: number): Promise<number> {
  return countOf(ofTenant(db, tenantId).where('status', '=', 'active'));
}

/** Returns the number of channels of a tenant, disabled ones included. */
export function countChannels(db: Database, tenantId: number): Promise<number> {
  return countOf(ofTenant(db, tenantId));
}

function ofTenant(db: Database, tenantId: number) {
  return db.selectFrom('notification_channels').where('tenant_id', '=', tenantId);
}

async function countOf(channels: ReturnType<typeof ofTenant>): Promise<number> {
  const { count } = await channels
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Returns a channel of any kind, or `undefined` if there is none. */
export async function findChannel(
  db: Database,
  tenantId: number,
  id: string,
): Promise<StoredChannel | undefined> {
  const row = await ofId(db, tenantId, id).executeTakeFirst();
  return row && storedChannel(row);
}

/** Like {@link findChannel}, and locks the webhook until the transaction ends. */
export async function lockChannel(
  db: Database,
  tenantId: number,
  id: string,
): Promise<StoredChannel | undefined> {
  const row = await lockRows(db, ofId(db, tenantId, id)).executeTakeFirst();
  return row && storedChannel(row);
}

function ofId(db: Database, tenantId: number, id: string) {
  return db
    .selectFrom('notification_channels')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id);
}

/** Returns all channels of a tenant, oldest first: webhooks, or the others. */
export async function allChannels(
  db: Database,
  tenantId: number,
  which: 'webhooks' | 'others' = 'webhooks',
): Promise<StoredChannel[]> {
  const rows = await db
    .selectFrom('notification_channels')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('kind', which === 'webhooks' ? '=' : '<>', 'webhook')
    .orderBy('created_ms')
    .orderBy('id')
    .execute();
  return rows.map(storedChannel);
}

/** Returns a slice of the webhooks, newest first. */
export async function listChannels(
  db: Database,
  options: {
    readonly tenantId: number;
    readonly after?: { readonly createdMs: number; readonly id: string } | undefined;
    readonly limit: number;
  },
): Promise<Slice<StoredChannel>> {
  const { after } = options;
  let query = db
    .selectFrom('notification_channels')
    .selectAll()
    .where('tenant_id', '=', options.tenantId)
    .where('kind', '=', 'webhook');
  if (after) {
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('created_ms', 'id'), '<', tuple(after.createdMs, after.id)),
    );
  }
  const ordered = query.orderBy('created_ms', 'desc').orderBy('id', 'desc');
  const { rows, hasMore } = await querySliceWithin(options.limit, ['url'], ordered);
  return { rows: rows.map(storedChannel), hasMore };
}

/** Adds a webhook. */
export async function insertChannel(db: Database, channel: StoredChannel): Promise<void> {
  await db
    .insertInto('notification_channels')
    .values({ ...channel, events: JSON.stringify(channel.events) })
    .execute();
  await raiseSettingsVersion(db, channel.tenant_id);
}

/** Changes a channel. */
export async function updateChannel(
  db: Database,
  { tenant_id: tenantId, id }: Pick<StoredChannel, 'tenant_id' | 'id'>,
  { events, ...changed }: Partial<Omit<StoredChannel, 'tenant_id' | 'id' | 'kind' | 'created_ms'>>,
): Promise<void> {
  await db
    .updateTable('notification_channels')
    .set({ ...changed, ...(events && { events: JSON.stringify(events) }) })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute();
  if (changed.status !== undefined || events !== undefined) await raiseSettingsVersion(db, tenantId);
}

/** Deletes a webhook. */
export async function dropChannel(
  db: Database,
  { tenant_id: tenantId, id }: Pick<StoredChannel, 'tenant_id' | 'id'>,
): Promise<void> {
  await db
    .deleteFrom('notification_channels')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute();
  await raiseSettingsVersion(db, tenantId);
}

/** Maximum deliveries that are counted for each webhook. */
const maxCounted = 1000;

/** A webhook with the number of its waiting deliveries. */
export interface ChannelHealth
  extends Pick<
    Selectable<NotificationChannelTable>,
    'id' | 'url' | 'status' | 'failure_count' | 'failing_since_ms' | 'last_delivery_ms'
  > {
  readonly waiting: number;
  /** Waiting deliveries that failed at least once. */
  readonly retrying: number;
}

/**
 * Returns the state of the webhooks of a tenant, oldest first. Counts stop at 1,000.
 *
 * @param id - id of a webhook; all if omitted
 */
export function channelHealth(db: Database, tenantId: number, id?: string): Promise<ChannelHealth[]> {
  const waiting = (minAttempts: number) => sql<number>`(
    select count(*) from (
      select 1 from deliveries
      where deliveries.tenant_id = ${tenantId} and deliveries.channel_id = notification_channels.id
        and deliveries.status = 'waiting' and deliveries.attempts >= ${minAttempts}
      limit ${sql.lit(maxCounted)}
    ) as counted
  )`;
  return db
    .selectFrom('notification_channels')
    .select([
      'id',
      'url',
      'status',
      'failure_count',
      'failing_since_ms',
      'last_delivery_ms',
      waiting(0).as('waiting'),
      waiting(1).as('retrying'),
    ])
    .where('tenant_id', '=', tenantId)
    .where('kind', '=', 'webhook')
    .$if(id !== undefined, (query) => query.where('id', '=', id as string))
    .orderBy('created_ms')
    .orderBy('id')
    .execute();
}
