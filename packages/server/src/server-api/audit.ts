import { type AuditEntry, auditActions, auditTargetKinds } from '@actlog/protocol';
import { pageQuery } from '@actlog/protocol/schemas';
import * as z from 'zod';
import { type Cursors, readPage } from '../http/page.ts';
import { requireEveryScope } from '../http/request-gate.ts';
import type { ServerRoute } from '../http/server-route.ts';
import { isoTime, timeMs } from '../lib/iso-time.ts';
import type { Storage } from '../storage/storage.ts';
import { type AuditRow, listAuditEntries } from '../storage/stores/audit-store.ts';

/** Query of `GET /server/v1/audit`. */
const auditQuery = z.strictObject({
  ...pageQuery.shape,
  /** Only changes by this key, such as `key_0198c1d2e3f47a5b`. */
  actor: z.string().min(1).optional(),
  /** Only this kind of change. */
  action: z.enum(auditActions).optional(),
  /** Only changes of this kind of thing. */
  targetKind: z.enum(auditTargetKinds).optional(),
  /** Only changes of the thing with this id. */
  target: z.string().min(1).optional(),
  /** Earliest time of a change (inclusive). */
  since: timeMs.optional(),
  /** Time before which a change was made (exclusive). */
  until: timeMs.optional(),
});

/** Route `GET /server/v1/audit`: changes by people and keys, newest first. Only for keys that may administer. */
export function auditRoute({
  storage,
  cursors,
}: {
  readonly storage: Storage;
  readonly cursors: Cursors;
}): ServerRoute<typeof auditQuery> {
  return {
    method: 'GET',
    path: '/audit',
    success: 200,
    query: auditQuery,
    check: requireEveryScope,
    async handle({ caller: { tenantId }, query }) {
      const { limit: _limit, cursor: _cursor, since, until, ...filters } = query;
      const { rows, nextCursor } = await storage.read(tenantId, (db) =>
        readPage(
          cursors,
          { tenantId, endpoint: 'audit', filters: query },
          query,
          ({ after, limit }) =>
            listAuditEntries(db, {
              tenantId,
              filters: { ...filters, sinceMs: since, untilMs: until },
              afterId: after?.[0] as string | undefined,
              limit,
            }),
          (row) => [row.id],
        ),
      );
      return { items: rows.map(auditView), nextCursor };
    },
  };
}

function auditView(row: AuditRow): AuditEntry {
  return {
    id: row.id,
    at: isoTime(row.at_ms),
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name, principal: row.principal },
    action: row.action,
    target: { kind: row.target_kind, id: row.target_id, name: row.target_name },
    changes: JSON.parse(row.changes) as AuditEntry['changes'],
  };
}
