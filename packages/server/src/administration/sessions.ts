import type { DeleteOptions } from '../deletion/delete-tenant.ts';
import { flooredError, requireNoHold } from '../deletion/protected-records.ts';
import type { HistoryReader, HistorySession } from '../history/history-reader.ts';
import { learnConfirmedSession } from '../risk/learning.ts';
import { usesHistory } from '../storage/event-reader.ts';
import { beginDeletion, type EntryRanges } from '../storage/log/tenant-log.ts';
import {
  type DroppableDecision,
  decisionsOf,
  dropDecisions,
  finalMs,
} from '../storage/policies/policy-decision-store.ts';
import { dropSessions } from '../storage/retention/drop-rows.ts';
import type { HoldableRecord } from '../storage/retention/legal-holds.ts';
import {
  DeletionPace,
  dropRest,
  firstReceipts,
  holdableAction,
  holdableDecision,
} from '../storage/retention/prune.ts';
import { flooredFrom, type RetentionClass, retentionPolicy } from '../storage/retention/retention.ts';
import { findSession } from '../storage/sessions/session-store.ts';
import type { Storage } from '../storage/storage.ts';
import { dropGrantsOf } from '../storage/stores/approval-grant-store.ts';
import { dropCallHistory } from '../storage/stores/call-history-store.ts';
import { deliveriesAbout, dropDeliveries } from '../storage/stores/delivery-store.ts';
import { deleteStoredResponses } from '../storage/stores/idempotent-response-store.ts';
import {
  type DroppableAction,
  dropPendingActions,
  endedMs,
  isOverdue,
  lockActionsOf,
} from '../storage/stores/pending-action-store.ts';
import type { Database } from '../storage/transaction.ts';
import { operator, recordUnlimited } from '../tenants/audit-log.ts';
import { requireSingleLineName } from '../tenants/single-line-name.ts';
import { eraseTraces, findTenantId } from './tenants.ts';

/** Sessions of tenants. */
export class SessionAdministration {
  readonly #storage: Storage;
  readonly #history: HistoryReader | undefined;

  /** @internal */
  constructor(storage: Storage, history?: HistoryReader) {
    this.#storage = storage;
    this.#history = history;
  }

  /**
   * Adds a session that scored `high` or `critical` to the agent's baseline, after a person confirmed it as expected
   * behavior. Other sessions are added automatically, half an hour after their last event. The session's score does
   * not change.
   *
   * @returns `true` if the session is now one of the sixteen kept in the baseline, which are a sample of all sessions.
   * @throws Error when there is no such tenant or session, or when the session has not ended.
   */
  async learn(tenant: string, sessionId: string): Promise<boolean> {
    const owner = await findTenantId(this.#storage, tenant);
    const outcome = await learnConfirmedSession(this.#storage, owner, sessionId, Date.now(), (db) =>
      recordUnlimited(db, owner, operator, {
        action: 'session.confirmed',
        target: { id: sessionId, name: null },
        changes: [],
      }),
    );
    if (outcome === 'unknown') throw unknownSession(tenant, sessionId);
    if (outcome === 'not-ended') {
      throw new Error(
        `The session "${sessionId}" has not ended: it can be learned half an hour after its last event.`,
      );
    }
    return outcome === 'learned';
  }

  /**
   * Deletes a session permanently: its events, its risk, its held actions with their displayed arguments, the
   * decisions about its actions, and the messages to webhooks about it, sent or not. The agent's baseline combines several sessions and is unchanged.
   * Further events of the session create it again. Of a deployment with a history, events that retention has deleted
   * from the database are deleted there too, as soon as the history is reached.
   *
   * @throws ProtectedRecordsError when a legal hold covers a part of it, or when a part is before its floor and no
   *   erasure is given; Error when there is no such tenant or session, when an action of the session waits for a
   *   decision, or when the history cannot be reached.
   */
  async delete(tenant: string, sessionId: string, options: DeleteOptions = {}): Promise<void> {
    const { erasure } = options;
    if (erasure !== undefined) requireSingleLineName('erasure', erasure);
    const owner = await findTenantId(this.#storage, tenant);
    const old = await this.#oldEvents(owner, sessionId);
    const outcome = await deleteSession(this.#storage, owner, sessionId, Date.now(), options, old, (db) =>
      recordUnlimited(db, owner, operator, {
        action: 'session.deleted',
        target: { id: sessionId, name: null },
        changes: erasure === undefined ? [] : [{ field: 'erasure', before: null, after: erasure }],
      }),
    );
    if (outcome === 'unknown') throw unknownSession(tenant, sessionId);
    if (outcome === 'waiting') {
      throw new Error(
        `An action of the session "${sessionId}" waits for a decision: approve or deny it first.`,
      );
    }
    const pace = new DeletionPace(this.#storage);
    await dropRest(pace, owner);
    await eraseTraces(this.#storage);
  }

  /** Returns the events of a session in the history. */
  async #oldEvents(tenantId: number, sessionId: string): Promise<OldEvents | undefined> {
    const history = this.#history;
    if (!history) {
      if (!(await this.#storage.readAcross('administer', usesHistory))) return undefined;
      throw new Error(
        'The servers of this database have a history, which may have events of the session: set ACTLOG_HISTORY, or ACTLOG_HISTORY_FILE, as for the servers.',
      );
    }
    const session = await history.find(tenantId, sessionId);
    return session && { session, entries: await history.entries(tenantId, sessionId) };
  }
}

/** Events of a session in the history. */
interface OldEvents {
  readonly session: HistorySession;
  readonly entries: EntryRanges;
}

function unknownSession(tenant: string, sessionId: string): Error {
  return new Error(`The tenant "${tenant}" has no session "${sessionId}".`);
}

/** Result of a deletion: `deleted`; `waiting`, because an action of the session waits for a decision; or `unknown`. */
type SessionDeletion = 'deleted' | 'waiting' | 'unknown';

/**
 * Time before the search of all messages in which a message may have been queued that the search did not see, in
 * milliseconds: longer than a transaction and than the difference between the clocks of two servers.
 */
const recentMs = 60_000;

/**
 * Deletes a session permanently: its events, its risk, its held actions with their displayed arguments, the grants of
 * approvers, the decisions about its actions, its history, and the messages to webhooks about it. A session with a
 * pending action is not deleted, because its agent would only check again.
 *
 * @param old - its events in the history
 * @param onDeleted - runs in the same transaction if there was such a session
 */
async function deleteSession(
  storage: Storage,
  tenantId: number,
  id: string,
  nowMs: number,
  { erasure }: DeleteOptions,
  old: OldEvents | undefined,
  onDeleted: (db: Database) => Promise<void>,
): Promise<SessionDeletion> {
  // In a separate read, because searching all messages takes a while and must not block writes.
  const readMs = Date.now();
  const messages = await storage.read(tenantId, (db) => deliveriesAbout(db, tenantId, id, 0));
  const reason = { by: 'operator', ...(erasure !== undefined && { erasure }) } as const;
  return storage.write(tenantId, async ({ db }) => {
    // Locks the log before any row.
    await beginDeletion(db, tenantId);
    const actions = await lockActionsOf(db, tenantId, id);
    if (actions.some((row) => row.status === 'pending' && !isOverdue(row, nowMs))) return 'waiting';
    const decisions = await decisionsOf(db, tenantId, id);
    const isErasure = erasure !== undefined;
    await requireDeletable(db, tenantId, id, { actions, decisions, old: old?.session, isErasure });
    const dropped = await dropSessions(db, tenantId, [id], nowMs, { reason, oldEntries: old?.entries ?? [] });
    await dropCallHistory(db, tenantId, id);
    const decisionIds = decisions.map((row) => row.id);
    for (let from = 0; from < decisionIds.length; from += maxDecisions) {
      await dropDecisions(db, tenantId, decisionIds.slice(from, from + maxDecisions), nowMs, reason);
    }
    // Within the transaction, so that no event in between uses a cached session.
    storage.clearSessionCache();
    await dropGrantsOf(db, tenantId, id);
    await dropPendingActions(
      db,
      tenantId,
      actions.map((row) => row.id),
      reason,
    );
    await deleteStoredResponses(db, tenantId, 'guardian.pendingActions.decide');
    const queuedSinceRead = await deliveriesAbout(db, tenantId, id, readMs - recentMs);
    await dropDeliveries(db, tenantId, [...messages, ...queuedSinceRead]);
    if (dropped + actions.length === 0 && !old) return 'unknown';
    await onDeleted(db);
    return 'deleted';
  });
}

/** Maximum decisions whose deletion is one record of the log. */
const maxDecisions = 1000;

/** @throws ProtectedRecordsError when a part of a session must be kept. */
async function requireDeletable(
  db: Database,
  tenantId: number,
  id: string,
  {
    actions,
    decisions,
    old,
    isErasure,
  }: {
    readonly actions: readonly DroppableAction[];
    readonly decisions: readonly DroppableDecision[];
    readonly old: HistorySession | undefined;
    readonly isErasure: boolean;
  },
): Promise<void> {
  const what = `The session "${id}"`;
  const session = await findSession(db, tenantId, id);
  const firstMs = session && ((await firstReceipts(db, tenantId, [id])).get(id) ?? session.received_ms);
  const held: HoldableRecord[] = [...actions.map(holdableAction), ...decisions.map(holdableDecision)];
  if (session) {
    held.push({
      sessionId: id,
      agentIds: session.agentIds,
      fromMs: Math.min(session.started_ms, firstMs ?? session.started_ms),
      toMs: Math.max(session.last_event_ms, session.received_ms),
    });
  }
  if (old) {
    held.push({ sessionId: id, agentIds: old.view.agentIds, fromMs: old.fromMs, toMs: old.toMs });
  }
  await requireNoHold(db, tenantId, held, what);
  if (isErasure) return;
  const policy = await retentionPolicy(db, tenantId);
  const nowMs = Date.now();
  const newest: readonly [RetentionClass, readonly number[]][] = [
    ['sessions', [session?.received_ms, old?.receivedMs].filter((time) => time !== undefined)],
    ['decisions', decisions.map((row) => finalMs(row) ?? nowMs)],
    ['approvals', actions.map((row) => endedMs(row) ?? nowMs)],
  ];
  for (const [name, times] of newest) {
    const days = policy.floors[name];
    const keptFromMs = flooredFrom(policy, name, nowMs);
    if (days > 0 && times.some((time) => time >= keptFromMs)) throw flooredError(what, { name, days });
  }
}
