import type { NewEvent } from '../ingest/new-event.ts';
import { findEvents } from '../storage/event-log.ts';
import { lockNames } from '../storage/locks.ts';
import { isPostgres } from '../storage/postgres/is-postgres.ts';
import { findSessions } from '../storage/session-store.ts';
import type { Database } from '../storage/transaction.ts';
import { findUsage, type Usage } from '../storage/usage-store.ts';
import { type ExceededQuota, type Quotas, readQuotas } from './quota.ts';

/**
 * Room from which on processes count without waiting for each other: 256 of them can store a group of 512 events
 * each at the same time and stay within it.
 */
const ampleRoom = 256 * 512;

const quotaLock = ['quota'];

/** For each event the quota that has no room for it; undefined for those that may be stored. */
export type Admission = readonly (ExceededQuota | undefined)[];

/**
 * Holds events of callers to the quotas of their tenant, exactly, over all processes: close to a quota the commits
 * of a tenant take turns. An event that is already stored takes no room. Call it before anything is locked.
 *
 * @returns undefined when all may be stored.
 */
export async function admit(
  db: Database,
  tenantId: number,
  events: readonly NewEvent[],
  nowMs: number,
): Promise<Admission | undefined> {
  const quotas = await readQuotas(db, tenantId);
  if (quotas.eventsPerMonth === undefined && quotas.sessions === undefined) return undefined;
  const room = await lockedRoom(db, tenantId, quotas, nowMs);
  if (room.events >= events.length && room.sessions >= events.length) return undefined;
  const eventIds = events.map(({ event }) => event.eventId);
  const known = new Set((await findEvents(db, tenantId, eventIds)).keys());
  const sessionIds = [...new Set(events.map(({ event }) => event.sessionId))];
  const open = new Set((await findSessions(db, tenantId, sessionIds)).keys());
  let { events: eventRoom, sessions: sessionRoom } = room;
  return events.map(({ event: { eventId, sessionId } }) => {
    if (known.has(eventId)) return undefined;
    if (eventRoom <= 0) return { quota: 'eventsPerMonth', max: quotas.eventsPerMonth as number };
    if (!open.has(sessionId)) {
      if (sessionRoom <= 0) return { quota: 'sessions', max: quotas.sessions as number };
      sessionRoom -= 1;
      open.add(sessionId);
    }
    eventRoom -= 1;
    known.add(eventId);
    return undefined;
  });
}

/** The room that is left, which only those use up who have ample room too, or nobody until the transaction ends. */
async function lockedRoom(db: Database, tenantId: number, quotas: Quotas, nowMs: number): Promise<Usage> {
  const room = await roomOf(db, tenantId, quotas, nowMs);
  if (!isPostgres(db)) return room;
  // Twice as much, so that hardly any has to change from the one lock to the other.
  const isAmple = leastOf(room) > 2 * ampleRoom;
  await lockNames(db, tenantId, quotaLock, isAmple ? 'shared' : 'alone');
  const now = await roomOf(db, tenantId, quotas, nowMs);
  if (!isAmple || leastOf(now) > ampleRoom) return now;
  await lockNames(db, tenantId, quotaLock);
  return roomOf(db, tenantId, quotas, nowMs);
}

async function roomOf(db: Database, tenantId: number, quotas: Quotas, nowMs: number): Promise<Usage> {
  const used = await findUsage(db, tenantId, nowMs);
  return {
    events: (quotas.eventsPerMonth ?? Number.POSITIVE_INFINITY) - used.events,
    sessions: (quotas.sessions ?? Number.POSITIVE_INFINITY) - used.sessions,
  };
}

function leastOf({ events, sessions }: Usage): number {
  return Math.min(events, sessions);
}
