import type { LogRecord, RecordKind } from '@actlog/log';
import { parseExactJson } from '@actlog/protocol';
import type { Selectable } from 'kysely';
import { isoTime, isoTimeOrNull } from '../../lib/iso-time.ts';
import type { PendingActionTable, PolicyDecisionTable } from '../policies/policy-schema.ts';
import type { EventTable } from '../schema.ts';
import { eventEnvelope } from '../stores/event-log.ts';
import type { AuditTable } from '../tables.ts';
import { type Database, oneOf } from '../transaction.ts';

/** Kinds of records that are logged by their id; events are logged by their session and arrival. */
export type PendingKind = Exclude<RecordKind, 'event'>;

/** Returns the record of an event: the event as every list and export shows it. */
export function eventRecord(row: Selectable<EventTable>): LogRecord {
  return {
    kind: 'event',
    id: row.event_id,
    row: { ...eventEnvelope(row), payload: parsed(row.payload) },
  };
}

/**
 * Returns the record of a decision as it was at the check. The outcome of a held action is left out, because it changes
 * later: the approval has a separate record.
 */
function decisionRecord(row: Selectable<PolicyDecisionTable>): LogRecord {
  const isHeld = row.held_status !== null;
  return {
    kind: 'decision',
    id: row.id,
    row: {
      checkedAt: isoTime(row.decided_ms),
      agentId: row.agent_id,
      sessionId: row.session_id,
      actionId: row.action_id,
      toolName: row.tool_name,
      argumentsHash: row.arguments_hash,
      framework: row.framework,
      environment: row.environment,
      decision: isHeld ? 'require_approval' : row.decision,
      ...(isHeld ? {} : { decidedBy: row.decided_by, matched: parsed(row.matched) }),
      pendingActionId: row.pending_action_id,
      isDryRun: row.dry_run === 1,
      durationUs: row.duration_us,
      arguments: parsed(row.arguments),
      origins: parsed(row.origins),
      grantId: row.grant_id,
      principal: row.principal,
      subagent: row.subagent,
      parentAgentIds: parsed(row.parent_agents),
      identity: parsed(row.identity),
      traceparent: row.traceparent,
    },
  };
}

/** Returns the record of a held action that has ended, without its later use by a check. */
function approvalRecord(row: Selectable<PendingActionTable>): LogRecord {
  return {
    kind: 'approval',
    id: row.id,
    row: {
      status: row.status,
      agentId: row.agent_id,
      sessionId: row.session_id,
      policyId: row.policy_id,
      policyName: row.policy_name,
      policies: parsed(row.policies),
      actionDigest: row.action_digest,
      action: parsed(row.action),
      reason: row.reason,
      heldAt: isoTime(row.created_ms),
      expiresAt: isoTime(row.expires_ms),
      onTimeout: row.on_timeout,
      comment: row.comment,
      decidedBy: row.decided_by,
      decidedPrincipal: row.decided_principal,
      decidedAt: isoTimeOrNull(row.decided_ms),
      isSingleUse: row.single_use === 1,
      requiredApprovers: row.required_approvers,
      excludesRequester: row.not_requester === 1,
      needsVerifiedPrincipal: row.verified_principal === 1,
      approverKeys: parsed(row.approver_keys),
      approverGroups: parsed(row.approver_groups),
      approvals: parsed(row.approvals),
      editable: parsed(row.editable),
      changedArguments: parsed(row.changes),
      requestedBy: row.requested_by,
      principal: row.principal,
      subagent: row.subagent,
      parentAgentIds: parsed(row.parent_agents),
      identity: parsed(row.identity),
      traceparent: row.traceparent,
      grantId: row.grant_id,
    },
  };
}

function auditRecord(row: Selectable<AuditTable>): LogRecord {
  return {
    kind: 'audit',
    id: row.id,
    row: {
      at: isoTime(row.at_ms),
      actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name, principal: row.principal },
      action: row.action,
      target: { kind: row.target_kind, id: row.target_id, name: row.target_name },
      changes: parsed(row.changes),
    },
  };
}

/** Escape of half of a surrogate pair, which `JSON.stringify` writes only for a half without its other one. */
const loneSurrogate = /\\u[dD][89a-fA-F]/;

/**
 * Parses a column with JSON. An empty text stands for arguments that were too large to keep. JSON with half of a
 * surrogate pair has no canonical form (RFC 8785), so it is logged as a string with the JSON.
 */
function parsed(json: string | null): unknown {
  return json === null || json === '' || loneSurrogate.test(json) ? json : parseExactJson(json);
}

/** Returns the records with these ids that still exist. */
export async function findRecords(
  db: Database,
  tenantId: number,
  kind: PendingKind,
  ids: readonly string[],
): Promise<Map<string, LogRecord>> {
  const records = ids.length === 0 ? [] : await readRecords(db, tenantId, kind, JSON.stringify(ids));
  return new Map(records.map((record) => [record.id, record]));
}

async function readRecords(
  db: Database,
  tenantId: number,
  kind: PendingKind,
  idsJson: string,
): Promise<LogRecord[]> {
  const ofIds = oneOf(db, 'id', idsJson);
  switch (kind) {
    case 'decision':
      return (
        await db
          .selectFrom('policy_decisions')
          .selectAll()
          .where('tenant_id', '=', tenantId)
          .where(ofIds)
          .execute()
      ).map(decisionRecord);
    case 'approval':
      return (
        await db
          .selectFrom('pending_actions')
          .selectAll()
          .where('tenant_id', '=', tenantId)
          .where(ofIds)
          .execute()
      ).map(approvalRecord);
    case 'audit':
      return (
        await db.selectFrom('audit_log').selectAll().where('tenant_id', '=', tenantId).where(ofIds).execute()
      ).map(auditRecord);
    case 'deletion': {
      const rows = await db
        .selectFrom('log_deletions')
        .selectAll()
        .where('tenant_id', '=', tenantId)
        .where(ofIds)
        .execute();
      return rows.map(({ id, record }) => ({ kind, id, row: JSON.parse(record) as unknown }));
    }
  }
}
