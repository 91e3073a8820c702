import { type AlertRule, type AlertRuleDefinition, alertKinds } from '@actlog/protocol';
import { riskLevel } from '@actlog/protocol/schemas';
import * as z from 'zod';
import { beginWatch } from '../channels/alerts.ts';
import { requireScope } from '../http/request-gate.ts';
import { validated } from '../http/request-input.ts';
import type { ServerCall, ServerRoute } from '../http/server-route.ts';
import { notFound, validationError } from '../lib/api-error.ts';
import { newIdentifier } from '../lib/identifier.ts';
import { isoTime } from '../lib/iso-time.ts';
import { lockNames } from '../storage/locks.ts';
import type { Storage } from '../storage/storage.ts';
import {
  dropAlertRule,
  insertAlertRule,
  listAlertRules,
  lockAlertRule,
  maxAlertRules,
  muteAlertRule,
  type StoredAlertRule,
} from '../storage/stores/alert-store.ts';
import type { Database } from '../storage/transaction.ts';
import { type AuditParts, auditRequest, fieldChanges } from '../tenants/audit-log.ts';
import { singleLineName } from '../tenants/single-line-name.ts';
import { muting } from './channels.ts';
import { noBody } from './webhooks.ts';

/** Parts of {@link alertRuleRoutes}. */
export interface AlertRuleParts extends AuditParts {
  readonly storage: Storage;
  /** `true` if what is recorded is appended to the log, in which rules look for causes. */
  readonly keepLog: boolean;
}

const globs = z.array(z.string().min(1).max(200)).max(50).default([]);

/** Body of `POST /server/v1/alert-rules`. */
const definition = z.strictObject({
  name: singleLineName,
  kind: z.enum(alertKinds, `must be one of ${alertKinds.join(', ')}`),
  level: riskLevel.default('high'),
  agents: globs,
  tools: globs,
  count: z.int().min(1).max(1000).default(1),
  windowMinutes: z.number().min(1).max(10_080).default(60),
  channels: z.array(z.string().max(100)).max(50).default([]),
});

/** Routes of the rules of alerts. */
export function alertRuleRoutes(parts: AlertRuleParts): ServerRoute[] {
  const { storage } = parts;
  return [
    {
      method: 'GET',
      path: '/alert-rules',
      success: 200,
      check: (caller) => requireScope(caller, 'read'),
      handle: ({ caller: { tenantId } }) =>
        storage.read(tenantId, async (db) => ({ items: (await listAlertRules(db, tenantId)).map(view) })),
    },
    {
      method: 'POST',
      path: '/alert-rules',
      success: 201,
      check: (caller) => requireScope(caller, 'manage'),
      handle: (call) => create(parts, call),
    },
    {
      method: 'POST',
      path: '/alert-rules/:id/mute',
      success: 200,
      check: (caller) => requireScope(caller, 'manage'),
      async handle(call) {
        const { minutes } = validated('body', muting, call.body);
        const mutedMs = minutes === null ? null : Date.now() + minutes * 60_000;
        return storage.write(call.caller.tenantId, async ({ db }) => {
          const rule = await existing(db, call);
          await muteAlertRule(db, rule, mutedMs);
          const next = { ...rule, muted_until_ms: mutedMs };
          await audit(parts, db, call, minutes === null ? 'unmuted' : 'muted', rule, next);
          return view(next);
        });
      },
    },
    {
      method: 'DELETE',
      path: '/alert-rules/:id',
      success: 200,
      check: (caller) => requireScope(caller, 'manage'),
      async handle(call) {
        validated('body', noBody, call.body);
        return storage.write(call.caller.tenantId, async ({ db }) => {
          const rule = await existing(db, call);
          await dropAlertRule(db, rule);
          await audit(parts, db, call, 'deleted', rule, undefined);
          return { id: rule.id, deleted: true };
        });
      },
    },
  ];
}

async function create(parts: AlertRuleParts, call: ServerCall): Promise<AlertRule> {
  const rule: AlertRuleDefinition = validated('body', definition, call.body);
  const { tenantId } = call.caller;
  if (!parts.keepLog && rule.kind !== 'risk') {
    throw validationError(
      'kind',
      'no_log',
      'needs the log, which the operator has turned off (ACTLOG_KEEP_LOG)',
    );
  }
  const nowMs = Date.now();
  const row: StoredAlertRule = {
    tenant_id: tenantId,
    id: newIdentifier('alr'),
    definition: rule,
    muted_until_ms: null,
    created_ms: nowMs,
    updated_ms: nowMs,
  };
  return parts.storage.write(tenantId, async ({ db }) => {
    await lockNames(db, tenantId, ['alert rules']);
    const rules = await listAlertRules(db, tenantId);
    if (rules.length >= maxAlertRules) {
      throw validationError(
        'name',
        'too_many',
        `is one too many: a tenant has at most ${maxAlertRules} rules of alerts`,
      );
    }
    await insertAlertRule(db, row);
    await beginWatch(db, tenantId);
    await audit(parts, db, call, 'created', undefined, row);
    return view(row);
  });
}

async function existing(db: Database, { caller, id }: ServerCall): Promise<StoredAlertRule> {
  const rule = await lockAlertRule(db, caller.tenantId, id);
  if (!rule) throw notFound('alert rule');
  return rule;
}

function audit(
  parts: AlertRuleParts,
  db: Database,
  call: ServerCall,
  what: 'created' | 'muted' | 'unmuted' | 'deleted',
  before: StoredAlertRule | undefined,
  after: StoredAlertRule | undefined,
): Promise<void> {
  const { id, definition: rule } = (after ?? before) as StoredAlertRule;
  const stateOf = (one: StoredAlertRule | undefined) =>
    one && { ...one.definition, mutedUntil: view(one).mutedUntil };
  const fields = [
    'name',
    'kind',
    'level',
    'agents',
    'tools',
    'count',
    'windowMinutes',
    'channels',
    'mutedUntil',
  ] as const;
  return auditRequest(parts, db, call, {
    action: `alert_rule.${what}`,
    target: { id, name: rule.name },
    changes: fieldChanges(stateOf(before), stateOf(after), fields),
  });
}

/** Returns a rule as the API shows it. */
function view({
  id,
  definition: rule,
  muted_until_ms: mutedMs,
  created_ms,
  updated_ms,
}: StoredAlertRule): AlertRule {
  return {
    id,
    ...rule,
    mutedUntil: mutedMs !== null && mutedMs > Date.now() ? isoTime(mutedMs) : null,
    createdAt: isoTime(created_ms),
    updatedAt: isoTime(updated_ms),
  };
}
