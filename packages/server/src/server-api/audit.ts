import {
  type AuditEntry,
  auditActions,
  auditTargetKinds,
  type Forwarding,
  type RetentionInForce,
} from '@actlog/protocol';
import { flag, pageQuery } from '@actlog/protocol/schemas';
import * as z from 'zod';
import { requireEveryScope } from '../http/request-gate.ts';
import { callerFields, validated } from '../http/request-input.ts';
import { type ListParts, listRoute, type ServerRoute } from '../http/server-route.ts';
import { ApiError, notFound, validationError } from '../lib/api-error.ts';
import { isoTime, time, timeMs } from '../lib/iso-time.ts';
import { listLegalHolds } from '../storage/retention/legal-holds.ts';
import { retentionClasses, retentionPolicy } from '../storage/retention/retention.ts';
import { type AuditRow, listAuditEntries } from '../storage/stores/audit-store.ts';
import { type AuditParts, actorOf, auditRequest } from '../tenants/audit-log.ts';
import { createLegalHold, legalHoldView, releaseLegalHoldOf } from '../tenants/legal-holds.ts';
import { singleLineName } from '../tenants/single-line-name.ts';

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
export function auditRoute(parts: ListParts): ServerRoute<typeof auditQuery> {
  return listRoute(parts, {
    name: 'audit',
    query: auditQuery,
    check: requireEveryScope,
    rows: (db, { tenantId, query: { limit: _limit, cursor: _cursor, since, until, ...filters } }, page) =>
      listAuditEntries(db, { tenantId, filters: { ...filters, sinceMs: since, untilMs: until }, ...page }),
    view: auditView,
  });
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

/** Parts of {@link keptRecordsRoutes} and {@link legalHoldsRoute}. */
export interface KeptRecordsParts extends AuditParts, ListParts {
  /** Returns the state of each destination that records of a tenant are forwarded to. */
  readonly forwarding: (tenantId: number) => Promise<Forwarding['items']>;
}

const holdsQuery = z.strictObject({
  ...pageQuery.shape,
  /** `true` for holds in force, `false` for those that were released; both if omitted. */
  active: flag.optional(),
});

const scopeId = z.string().min(1).max(1000).nullish();

/** Body of `POST /server/v1/legal-holds`. */
const holdBody = z.strictObject({
  /** Name of the matter. */
  name: singleLineName,
  agentId: scopeId,
  sessionId: scopeId,
  since: time.nullish(),
  until: time.nullish(),
});

/** Route `GET /server/v1/legal-holds`: legal holds, newest first. Only for callers with every scope. */
export function legalHoldsRoute(parts: KeptRecordsParts): ServerRoute<typeof holdsQuery> {
  return listRoute(parts, {
    name: 'legal-holds',
    query: holdsQuery,
    check: requireEveryScope,
    async rows(db, { tenantId, query: { active: isActive } }, { afterId, limit }) {
      const found = await listLegalHolds(db, tenantId, { isActive, afterId, limit });
      return { rows: found.slice(0, limit), hasMore: found.length > limit };
    },
    view: legalHoldView,
  });
}

/**
 * Routes of the retention in force, of changes of legal holds, and of the forwarding of the tenant's records. Only for
 * callers with every scope.
 */
export function keptRecordsRoutes(parts: KeptRecordsParts): ServerRoute[] {
  const { storage, forwarding } = parts;
  return [
    {
      method: 'GET',
      path: '/retention',
      success: 200,
      check: requireEveryScope,
      async handle({ caller: { tenantId } }): Promise<RetentionInForce> {
        const { days, floors } = await storage.read(tenantId, (db) => retentionPolicy(db, tenantId));
        return {
          classes: retentionClasses.map((name) => ({
            class: name,
            days: days[name],
            floorDays: floors[name],
          })),
        };
      },
    },
    {
      method: 'GET',
      path: '/forwarding',
      success: 200,
      check: requireEveryScope,
      handle: async ({ caller }): Promise<Forwarding> => ({ items: await forwarding(caller.tenantId) }),
    },
    {
      method: 'POST',
      path: '/legal-holds',
      success: 201,
      check: requireEveryScope,
      async handle(call) {
        const draft = validated('body', holdBody, call.body);
        if (
          draft.since != null &&
          draft.until != null &&
          Date.parse(draft.since) >= Date.parse(draft.until)
        ) {
          throw validationError('until', 'invalid_range', 'must be after "since"');
        }
        const { tenantId } = call.caller;
        const actor = actorOf(parts, call);
        const hold = await storage.write(tenantId, async ({ db }) => {
          const created = await createLegalHold(db, tenantId, draft, actor).catch((error: unknown) => {
            if (error instanceof RangeError)
              throw validationError('', 'too_many_legal_holds', error.message.slice(0, -1));
            throw error;
          });
          if (created.change) await auditRequest(parts, db, call, created.change);
          return created.hold;
        });
        call.log.info({ ...callerFields(call.caller), legalHoldId: hold.id }, 'legal hold placed');
        return hold;
      },
    },
    {
      method: 'POST',
      path: '/legal-holds/:id/release',
      success: 200,
      check: requireEveryScope,
      async handle(call) {
        const { tenantId } = call.caller;
        const actor = actorOf(parts, call);
        const hold = await storage.write(tenantId, async ({ db }) => {
          const released = await releaseLegalHoldOf(db, tenantId, call.id, actor);
          if (!released) throw notFound('legal hold');
          if (released === 'operator') {
            throw new ApiError(
              'PERMISSION_DENIED',
              `An operator of the server has placed this legal hold, so only an operator releases it: actlog legal-holds release ${call.id}.`,
            );
          }
          if (released.change) await auditRequest(parts, db, call, released.change);
          return released.hold;
        });
        call.log.info({ ...callerFields(call.caller), legalHoldId: hold.id }, 'legal hold released');
        return hold;
      },
    },
  ];
}
