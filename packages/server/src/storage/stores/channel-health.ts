import { type Selectable, sql } from 'kysely';
import type { Database } from '../transaction.ts';
import type { NotificationChannelTable } from './webhook-schema.ts';

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
    .$if(id !== undefined, (query) => query.where('id', '=', id as string))
    .orderBy('created_ms')
    .orderBy('id')
    .execute();
}
