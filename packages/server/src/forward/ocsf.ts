import type { RecordKind } from '@actlog/log';
import { decisionCategory, type RiskLevel, toolCallCategory } from '@actlog/protocol';
import { riskLevels } from '../lib/risk-levels.ts';
import { version } from '../lib/version.ts';

/** Version of OCSF that the events follow. */
const ocsfVersion = '1.8.0';

/** An event of OCSF. */
export type OcsfEvent = Readonly<Record<string, unknown>>;

/** A record of a tenant's log. */
export interface ForwardedRecord {
  /** Name of the tenant. */
  readonly tenant: string;
  /** Index of its entry in the log. */
  readonly index: number;
  readonly kind: RecordKind;
  readonly id: string;
  /** Its fields, as the feed shows them. */
  readonly row: Readonly<Record<string, unknown>>;
}

/** A session whose risk rose. */
export interface RaisedRisk {
  /** Name of the tenant. */
  readonly tenant: string;
  readonly sessionId: string;
  /** Agent that opened the session. */
  readonly agentId: string;
  /** Score from 0 to 100. */
  readonly score: number;
  readonly level: RiskLevel;
  /** Level that was reported before; `null` if none was. */
  readonly previousLevel: RiskLevel | null;
  /** Time of the raise, in Unix milliseconds. */
  readonly raisedMs: number;
}

/**
 * Maps a record to API Activity (6003) of OCSF 1.8 with the profiles `ai_operation` and `security_control`.
 *
 * | attribute | event | decision | approval | audit | deletion |
 * | --- | --- | --- | --- | --- | --- |
 * | `time` | `sourceTimestamp` | `checkedAt` | `decidedAt`, or `expiresAt` | `at` | `deletedAt` |
 * | `metadata.uid`, `.sequence`, `.tenant_uid` | id, index, tenant | same | same | same | same |
 * | `metadata.event_code` | `category` | `decision` | `approval` | `action` | `deletion` |
 * | `metadata.logged_time` | `receivedAt` | – | – | – | – |
 * | `metadata.correlation_uid` | `sessionId` | `sessionId` | `sessionId` | – | – |
 * | `activity_id` | Other: Call, or the category | Other: Check | Other: Decide | by the verb of `action` | Delete |
 * | `actor.app_uid`, `src_endpoint.svc_name` | `agentId` | `agentId` | `agentId` | `actor.id` | `actlog` |
 * | `actor.user` | – | `principal` | `principal` | `actor.name`, `actor.id` | `by` |
 * | `actor.idp` | issuer of `identity` | the same | the same | – | – |
 * | `actor.invoked_by` | – | first of `parentAgentIds` | the same | – | – |
 * | `api.operation` | `payload.toolName`, or `category` | `toolName` | `action.toolName` | `action` | `deletion` |
 * | `api.request.uid` | event id | `actionId`, or id | id | id | id |
 * | `api.response.code` | `payload.responseStatus` | – | – | – | – |
 * | `message_context` | agent and session | agent, session, `framework` | agent and session | – | – |
 * | `action_id`, `disposition_id` | Observed, Logged | by `decision` | by `status` | – | – |
 * | `policy`, `authorizations` | `policyId` of a decision | `matched` | `policyId`, `approvals` | – | – |
 * | `resources` | – | – | – | `target` | – |
 * | `unmapped` | `payload` | other fields, the hash of all arguments | other fields | `changes` | `kind`, `entries`, reason |
 *
 * The arguments that a check shows to approvers, and the origins of its arguments, are left out.
 */
export function ocsfOfRecord(record: ForwardedRecord): OcsfEvent {
  switch (record.kind) {
    case 'event':
      return ofEvent(record);
    case 'decision':
      return ofDecision(record);
    case 'approval':
      return ofApproval(record);
    case 'audit':
      return ofAudit(record);
    case 'deletion':
      return ofDeletion(record);
  }
}

/**
 * Maps a raise of a session's risk to Detection Finding (2004) of OCSF 1.8. `finding_info.uid` is the session, so that
 * later raises update the finding: `activity_id` is Create without a previous level, and Update with one.
 */
export function ocsfOfRisk({
  tenant,
  sessionId,
  agentId,
  score,
  level,
  previousLevel,
  raisedMs,
}: RaisedRisk): OcsfEvent {
  const activity = previousLevel === null ? create : { ...update, id: 2 };
  const severity = severities[level];
  return {
    ...classified({ uid: 2004, name: 'Detection Finding', category: { uid: 2, name: 'Findings' } }, activity),
    time: raisedMs,
    ...severity,
    status_id: 1,
    status: 'New',
    message: `Risk of session ${sessionId} is ${level} (${Math.floor(score)})`,
    metadata: metadata(
      { tenant, uid: `risk:${sessionId}:${level}`, eventCode: 'session.risk_raised' },
      { correlation_uid: sessionId },
    ),
    finding_info: {
      uid: sessionId,
      title: `Agent session reached risk level ${level}`,
      types: ['Agent session risk'],
      modified_time: raisedMs,
    },
    resources: [
      { uid: sessionId, type: 'Agent session', role_id: 3, role: 'Affected' },
      { uid: agentId, type: 'AI agent', role_id: 2, role: 'Actor' },
    ],
    risk_score: Math.floor(score),
    risk_level_id: riskLevels.indexOf(level) + 1,
    risk_level: `${level[0]?.toUpperCase()}${level.slice(1)}`,
    is_alert: level === 'high' || level === 'critical',
    unmapped: { previous_level: previousLevel },
  };
}

type Row = ForwardedRecord['row'];

/** An activity of a class; an `other` one has a name of its product. */
interface Activity {
  readonly id: number;
  readonly name: string;
}

const create: Activity = { id: 1, name: 'Create' };
const update: Activity = { id: 3, name: 'Update' };
const remove: Activity = { id: 4, name: 'Delete' };

function other(name: string): Activity {
  return { id: 99, name };
}

const severities = {
  low: { severity_id: 2, severity: 'Low' },
  medium: { severity_id: 3, severity: 'Medium' },
  high: { severity_id: 4, severity: 'High' },
  critical: { severity_id: 5, severity: 'Critical' },
} as const satisfies Record<RiskLevel, unknown>;

const informational = { severity_id: 1, severity: 'Informational' } as const;

interface OcsfClass {
  readonly uid: number;
  readonly name: string;
  readonly category: { readonly uid: number; readonly name: string };
}

const apiActivity: OcsfClass = {
  uid: 6003,
  name: 'API Activity',
  category: { uid: 6, name: 'Application Activity' },
};

function classified({ uid, name, category }: OcsfClass, activity: Activity) {
  return {
    class_uid: uid,
    class_name: name,
    category_uid: category.uid,
    category_name: category.name,
    activity_id: activity.id,
    activity_name: activity.name,
    type_uid: uid * 100 + activity.id,
    type_name: `${name}: ${activity.id === 99 ? 'Other' : activity.name}`,
  };
}

interface MetadataFields {
  readonly tenant: string;
  readonly uid: string;
  readonly eventCode: string;
}

function metadata({ tenant, uid, eventCode }: MetadataFields, more: Row) {
  return defined({
    version: ocsfVersion,
    product: { name: 'actlog', vendor_name: 'actlog', version },
    profiles: ['ai_operation', 'security_control'],
    log_name: 'actlog',
    tenant_uid: tenant,
    uid,
    event_code: eventCode,
    ...more,
  });
}

/** Returns the attributes that all records share. */
function base({ tenant, index, id, row }: ForwardedRecord, activity: Activity, time: unknown, code: string) {
  return {
    ...classified(apiActivity, activity),
    time: millis(time) ?? 0,
    ...informational,
    metadata: metadata(
      { tenant, uid: id, eventCode: code },
      {
        sequence: index,
        logged_time: millis(row.receivedAt),
        correlation_uid: string(row.sessionId),
      },
    ),
  };
}

/** Returns the attributes about the agent of a record. */
function agentOf(row: Row) {
  const agent = string(row.agentId) ?? 'unknown';
  const session = string(row.sessionId);
  const principal = string(row.principal);
  const [invokedBy] = list(row.parentAgentIds);
  const { issuer } = object(row.identity);
  return {
    actor: defined({
      app_name: agent,
      app_uid: agent,
      session: session === undefined ? undefined : { uid: session },
      user: principal === undefined ? undefined : { name: principal },
      invoked_by: string(invokedBy),
      idp: issuer === undefined ? undefined : { name: string(issuer) },
    }),
    src_endpoint: { svc_name: agent },
    message_context: defined({
      ai_role_id: 4,
      ai_role: 'Agent',
      uid: session,
      application: { name: string(row.framework) ?? agent, uid: agent },
    }),
  };
}

function ofEvent(record: ForwardedRecord): OcsfEvent {
  const { id, row } = record;
  const category = string(row.category) ?? 'unknown';
  const payload = object(row.payload);
  const isCall = category === toolCallCategory;
  const isDecision = category === decisionCategory;
  const status = isCall ? integer(payload.responseStatus) : undefined;
  const hasFailed = status !== undefined && status >= 400;
  const policy = policyOf(payload.policyId, payload.policyName);
  return defined({
    ...base(record, other(isCall ? 'Call' : category), row.sourceTimestamp, category),
    ...(hasFailed && severities.low),
    ...agentOf(row),
    ...(status !== undefined && {
      status_id: hasFailed ? 2 : 1,
      status: hasFailed ? 'Failure' : 'Success',
      status_code: String(status),
    }),
    ...(isDecision ? outcome(string(payload.decision) ?? '') : logged),
    policy: isDecision ? policy : undefined,
    api: defined({
      operation: string(payload.toolName) ?? category,
      request: { uid: id },
      response: status === undefined ? undefined : { code: status },
    }),
    unmapped: defined({ ...payload, identity: row.identity, traceparent: row.traceparent }),
  });
}

function ofDecision(record: ForwardedRecord): OcsfEvent {
  const { id, row } = record;
  const decision = string(row.decision) ?? '';
  const isDryRun = row.isDryRun === true;
  const matched = list(row.matched).map(object);
  const decidedBy = matched.find(({ policyId }) => policyId === row.decidedBy);
  const { argumentsHash, decidedBy: by, pendingActionId, durationUs, grantId, subagent, environment } = row;
  return defined({
    ...base(record, other('Check'), row.checkedAt, 'decision'),
    ...(decision !== 'allow' && !isDryRun && severities.medium),
    ...agentOf(row),
    ...(isDryRun ? logged : outcome(decision)),
    policy: decidedBy && policyOf(decidedBy.policyId, decidedBy.policyName, decidedBy.version),
    authorizations:
      matched.length === 0
        ? undefined
        : matched.map(({ effect, policyId, policyName, version: number }) =>
            defined({ decision: string(effect), policy: policyOf(policyId, policyName, number) }),
          ),
    api: { operation: string(row.toolName) ?? 'unknown', request: { uid: string(row.actionId) ?? id } },
    unmapped: defined({
      decision,
      decidedBy: by,
      argumentsHash,
      pendingActionId,
      isDryRun,
      durationUs,
      grantId,
      subagent,
      environment,
      parentAgentIds: row.parentAgentIds,
      identity: row.identity,
      traceparent: row.traceparent ?? undefined,
    }),
  });
}

function ofApproval(record: ForwardedRecord): OcsfEvent {
  const { id, row } = record;
  const status = string(row.status) ?? '';
  const action = object(row.action);
  const policy = policyOf(row.policyId, row.policyName);
  const approvals = list(row.approvals);
  const { reason, comment, decidedBy, decidedPrincipal, heldAt, expiresAt, onTimeout, requestedBy } = row;
  return defined({
    ...base(record, other('Decide'), row.decidedAt ?? row.expiresAt, 'approval'),
    ...(status !== 'approved' && severities.medium),
    ...agentOf({ ...row, framework: action.framework }),
    ...outcome(status),
    policy,
    authorizations:
      approvals.length === 0 ? undefined : approvals.map(() => defined({ decision: 'approved', policy })),
    api: { operation: string(action.toolName) ?? 'unknown', request: { uid: id } },
    unmapped: defined({
      status,
      reason,
      comment,
      decidedBy,
      decidedPrincipal,
      approvals: row.approvals,
      heldAt,
      expiresAt,
      onTimeout,
      requestedBy,
      requiredApprovers: row.requiredApprovers,
      grantId: row.grantId,
      subagent: row.subagent,
      parentAgentIds: row.parentAgentIds,
      identity: row.identity,
      traceparent: row.traceparent ?? undefined,
      argumentsHash: action.argumentsHash,
      changedPaths: row.changedArguments == null ? undefined : Object.keys(object(row.changedArguments)),
    }),
  });
}

function ofAudit(record: ForwardedRecord): OcsfEvent {
  const { id, row } = record;
  const action = string(row.action) ?? 'unknown';
  const actor = object(row.actor);
  const target = object(row.target);
  const kind = string(actor.kind) ?? 'unknown';
  return defined({
    ...base(record, auditActivity(action), row.at, action),
    actor: {
      user: defined({
        name: string(actor.principal) ?? string(actor.name) ?? kind,
        uid: string(actor.id),
        type_id: 99,
        type: kind,
      }),
    },
    src_endpoint: { svc_name: string(actor.name) ?? kind },
    status_id: 1,
    status: 'Success',
    api: { operation: action, request: { uid: id } },
    resources: [
      defined({
        uid: string(target.id) ?? 'unknown',
        name: string(target.name),
        type: string(target.kind),
        role_id: 1,
        role: 'Target',
      }),
    ],
    unmapped: { changes: row.changes },
  });
}

function auditActivity(action: string): Activity {
  const verb = action.slice(action.indexOf('.') + 1);
  if (verb === 'created' || verb === 'registered') return create;
  if (verb === 'deleted' || verb === 'archived') return remove;
  return update;
}

function ofDeletion(record: ForwardedRecord): OcsfEvent {
  const { id, row } = record;
  const { kind, entries, days } = row;
  return {
    ...base(record, remove, row.deletedAt, 'deletion'),
    actor: { app_name: 'actlog', user: { name: string(row.by) ?? 'unknown', type_id: 3, type: 'System' } },
    src_endpoint: { svc_name: 'actlog' },
    status_id: 1,
    status: 'Success',
    api: { operation: 'deletion', request: { uid: id } },
    unmapped: defined({ kind, entries, days }),
  };
}

/** Outcome of a record that reports and controls nothing. */
const logged = {
  action_id: 3,
  action: 'Observed',
  disposition_id: 17,
  disposition: 'Logged',
  is_alert: false,
};

/** Returns the outcome of a control, by a decision or the status of a held action. */
function outcome(decision: string) {
  switch (decision) {
    case 'allow':
      return { action_id: 1, action: 'Allowed', disposition_id: 1, disposition: 'Allowed', is_alert: false };
    case 'approved':
      return { action_id: 1, action: 'Allowed', disposition_id: 8, disposition: 'Approved', is_alert: false };
    case 'deny':
      return { action_id: 2, action: 'Denied', disposition_id: 2, disposition: 'Blocked', is_alert: true };
    case 'denied':
      return { action_id: 2, action: 'Denied', disposition_id: 25, disposition: 'Rejected', is_alert: true };
    case 'require_approval':
    case 'partially_approved':
      return { action_id: 99, action: 'Held', disposition_id: 14, disposition: 'Delayed', is_alert: true };
    default:
      return {
        action_id: 99,
        action: decision || 'unknown',
        disposition_id: 99,
        disposition: decision || 'unknown',
        is_alert: false,
      };
  }
}

function policyOf(id: unknown, name: unknown, number?: unknown) {
  const [uid, title] = [string(id), string(name)];
  if (uid === undefined && title === undefined) return undefined;
  return defined({ uid, name: title, version: number == null ? undefined : String(number) });
}

function defined(fields: Row): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function string(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function integer(value: unknown): number | undefined {
  return Number.isSafeInteger(value) ? (value as number) : undefined;
}

function object(value: unknown): Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function millis(time: unknown): number | undefined {
  const ms = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
