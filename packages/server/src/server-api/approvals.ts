import type { GrantRevocationPayload } from '@actlog/policy';
import {
  type ActionDecisionResult,
  type ActionDecisionResults,
  type ApprovalGrant,
  headers,
  maxDecisionsAtOnce,
  type PendingAction,
  type SentOf,
} from '@actlog/protocol';
import { decide, flag, pageQuery } from '@actlog/protocol/schemas';
import * as z from 'zod';
import {
  type ActionDecision,
  type DecisionParts,
  decideAction,
  type RecordingParts,
  recordDecision,
  withdrawAction,
} from '../guardian/decide-action.ts';
import { pendingActionView } from '../guardian/pending-action-view.ts';
import { apiError } from '../http/errors.ts';
import { type Cursors, readPage } from '../http/page.ts';
import { requireScope } from '../http/request-gate.ts';
import { validated } from '../http/request-input.ts';
import type { ServerCall, ServerRoute } from '../http/server-route.ts';
import { notFound } from '../lib/api-error.ts';
import { isoTime, isoTimeOrNull } from '../lib/iso-time.ts';
import type { TenantTurns } from '../lib/tenant-turns.ts';
import type { PolicySet, PolicySets } from '../policy/policy-set.ts';
import type { Storage } from '../storage/storage.ts';
import {
  type ApprovalGrantRow,
  findGrant,
  listGrants,
  revokeGrant,
} from '../storage/stores/approval-grant-store.ts';
import { findPendingAction } from '../storage/stores/pending-action-store.ts';
import type { Write } from '../storage/transaction.ts';
import {
  type ActorParts,
  type AuditParts,
  actorOf,
  auditRequest,
  type RequestActor,
} from '../tenants/audit-log.ts';
import { requireAgent } from '../tenants/key-ring.ts';
import type { VerifiedCallers } from '../tenants/verified-callers.ts';

/** Parts of {@link decideActionsRoute}. */
export interface DecisionsParts extends DecisionParts, ActorParts {
  readonly storage: Storage;
  /** Shares the writing connections between the checks and changes of tenants. */
  readonly writeTurns: TenantTurns;
}

/** Route `GET /server/v1/pending-actions/:id`: a held action, whatever its status; links of messages lead to it. */
export function pendingActionRoute({ storage }: { readonly storage: Storage }): ServerRoute {
  return {
    method: 'GET',
    path: '/pending-actions/:id',
    success: 200,
    check: (caller) => requireScope(caller, 'read'),
    handle: ({ caller: { tenantId }, id }) =>
      storage.read(tenantId, async (db) => {
        const row = await findPendingAction(db, tenantId, id);
        if (!row) throw notFound('pending action');
        return pendingActionView(row, Date.now());
      }),
  };
}

/**
 * Route `POST /server/v1/pending-actions/decide`: decides up to 100 held actions. Each is decided in a separate
 * transaction and has a separate result, so a decision that is refused does not affect the others.
 */
export function decideActionsRoute(parts: DecisionsParts): ServerRoute {
  return {
    method: 'POST',
    path: '/pending-actions/decide',
    success: 200,
    readsArguments: true,
    check: (caller) => requireScope(caller, 'decide'),
    async handle(call): Promise<ActionDecisionResults> {
      const { decisions } = validated('body', decideActionsBody, call.body);
      const actor = actorOf(parts, call);
      const { tenantId } = call.caller;
      const results: ActionDecisionResult[] = [];
      // One after the other: transactions at the same time could wait for each other's sessions.
      for (const { id, ...body } of decisions) {
        results.push(await resultOf(parts, call, { tenantId, actor, id, body }));
      }
      return { results };
    },
  };
}

async function resultOf(
  parts: DecisionsParts,
  { log, caller: { tenantId } }: ServerCall,
  decision: ActionDecision,
): Promise<ActionDecisionResult> {
  const { id } = decision;
  try {
    const action = await parts.writeTurns.run(tenantId, () =>
      parts.storage.write(tenantId, (write) => decideAction(parts, write, decision)),
    );
    return { id, action: withoutArguments(action), error: null };
  } catch (error) {
    const { code, envelope } = apiError(error);
    // The caller gets the other results, so the failure is logged here.
    if (code === 'INTERNAL') log.error({ err: error }, 'decision failed');
    return { id, action: null, error: envelope.error };
  }
}

/** A hundred actions can have megabytes of shown arguments, which the approver has seen. */
function withoutArguments({
  action: { toolName, argumentsHash },
  ...rest
}: SentOf<'guardian.pendingActions.decide'>): PendingAction {
  return { ...rest, action: { toolName, argumentsHash } };
}

/** Parts of {@link withdrawActionRoute}. */
export interface WithdrawalParts extends DecisionsParts {
  readonly verifiedCallers: VerifiedCallers;
}

/**
 * Route `POST /server/v1/pending-actions/:id/withdraw`: ends an action that the agent's prompt holds, once a person
 * has decided there. Repeating it, or withdrawing an action that has ended, changes nothing.
 */
export function withdrawActionRoute(parts: WithdrawalParts): ServerRoute {
  return {
    method: 'POST',
    path: '/pending-actions/:id/withdraw',
    success: 200,
    // Whoever may check an action may withdraw it.
    check: (caller) => requireScope(caller, 'ingest'),
    async handle(call) {
      const { caller, id } = call;
      const { tenantId, requiresIdentity } = caller;
      const row = await parts.storage.read(tenantId, (db) => findPendingAction(db, tenantId, id));
      if (!row) throw notFound('pending action');
      requireAgent(caller, row.agent_id);
      const token = call.header(headers.identity);
      if (token !== undefined || requiresIdentity) {
        await parts.verifiedCallers.of(token, requiresIdentity, [row.agent_id]);
      }
      const withdrawal = { tenantId, actor: actorOf(parts, call), id };
      const action = await parts.writeTurns.run(tenantId, () =>
        parts.storage.write(tenantId, (write) => withdrawAction(parts, write, withdrawal)),
      );
      return withoutArguments(action);
    },
  };
}

type DecisionShape = (typeof decide)['shape'] & { readonly id: z.ZodString };

/** The fields of {@link decideActionsBody}; inferring them would repeat the schema of a decision. */
type DecideActionsShape = {
  readonly decisions: z.ZodArray<z.ZodObject<DecisionShape, z.core.$strict>>;
};

/** Body of `POST /server/v1/pending-actions/decide`. */
const decideActionsBody: z.ZodObject<DecideActionsShape, z.core.$strict> = z.strictObject({
  /** Decisions, each about another action. */
  decisions: z
    .array(z.strictObject({ ...decide.shape, id: z.string().min(1) }))
    .min(1)
    .max(maxDecisionsAtOnce)
    .refine(
      (decisions) => new Set(decisions.map(({ id }) => id)).size === decisions.length,
      'must name each action once',
    ),
});

/** Query of `GET /server/v1/grants`. */
const grantsQuery = z.strictObject({
  ...pageQuery.shape,
  /** Only grants for actions of this agent. */
  agentId: z.string().min(1).optional(),
  /** Only grants for actions of this session. */
  sessionId: z.string().min(1).optional(),
  /** `true` for grants that are neither expired nor revoked, `false` for the others; both if omitted. */
  valid: flag.optional(),
});

/** Parts of {@link grantsRoute}. */
export interface GrantListParts {
  readonly storage: Storage;
  readonly cursors: Cursors;
  readonly policySets: PolicySets;
}

/** Route `GET /server/v1/grants`: grants of approvers for later actions, newest first. */
export function grantsRoute({
  storage,
  cursors,
  policySets,
}: GrantListParts): ServerRoute<typeof grantsQuery> {
  return {
    method: 'GET',
    path: '/grants',
    success: 200,
    query: grantsQuery,
    check: (caller) => requireScope(caller, 'read'),
    async handle({ caller: { tenantId }, query }) {
      const { agentId, sessionId, valid: isValid } = query;
      const nowMs = Date.now();
      return storage.read(tenantId, async (db) => {
        const { rows, nextCursor } = await readPage(
          cursors,
          { tenantId, endpoint: 'grants', filters: query },
          query,
          ({ after, limit }) => {
            const filters = { agentId, sessionId, isValid };
            const afterId = after?.[0] as string | undefined;
            return listGrants(db, { tenantId, filters, nowMs, afterId, limit });
          },
          (row) => [row.id],
        );
        const set = await policySets.of(db, tenantId);
        return { items: rows.map((row) => grantView(row, set, nowMs)), nextCursor };
      });
    },
  };
}

/** Parts of {@link revokeGrantRoute}. */
export interface RevocationParts extends RecordingParts, AuditParts {
  readonly storage: Storage;
  readonly policySets: PolicySets;
}

/** Route `DELETE /server/v1/grants/:id`: revokes a grant; repeating it has the same response. */
export function revokeGrantRoute(parts: RevocationParts): ServerRoute {
  return {
    method: 'DELETE',
    path: '/grants/:id',
    success: 200,
    check: (caller) => requireScope(caller, 'decide'),
    async handle(call) {
      const { caller, id, log } = call;
      const { tenantId } = caller;
      const revokedBy = actorOf(parts, call);
      const { row, set, isNew } = await parts.storage.write(tenantId, async (write) => {
        const revoked = await revokeGrantOf(parts, write, { tenantId, id, revokedBy });
        if (revoked.isNew) {
          const target = { id, name: revoked.row.tool_name };
          const changes = [{ field: 'status', before: 'active', after: 'revoked' }];
          await auditRequest(parts, write.db, call, { action: 'grant.revoked', target, changes });
        }
        return { ...revoked, set: await parts.policySets.of(write.db, tenantId) };
      });
      if (isNew) log.info({ grantId: id }, 'grant revoked');
      return grantView(row, set, Date.now());
    },
  };
}

/** Returns a grant as the API returns it, given the active policies. */
function grantView(row: ApprovalGrantRow, set: PolicySet, nowMs: number): ApprovalGrant {
  const policies = JSON.parse(row.policies) as ApprovalGrant['policies'];
  return {
    id: row.id,
    status: statusOf(row, policies, set, nowMs),
    agentId: row.agent_id,
    sessionId: row.session_id,
    principal: row.principal,
    for: row.granted_for,
    toolName: row.tool_name,
    policies,
    pendingActionId: row.pending_action_id,
    grantedBy: row.granted_by,
    grantedByPrincipal: row.granted_principal,
    createdAt: isoTime(row.created_ms),
    expiresAt: isoTime(row.expires_ms),
    maxUses: row.max_uses,
    uses: row.uses,
    revokedAt: isoTimeOrNull(row.revoked_ms),
    revokedBy: row.revoked_by,
    revokedByPrincipal: row.revoked_principal,
  };
}

function statusOf(
  row: ApprovalGrantRow,
  granted: ApprovalGrant['policies'],
  { policies }: PolicySet,
  nowMs: number,
): ApprovalGrant['status'] {
  if (row.revoked_ms !== null) return 'revoked';
  if (row.expires_ms <= nowMs) return 'expired';
  if (row.max_uses !== null && row.uses >= row.max_uses) return 'used_up';
  const isSame = granted.every(({ id, version }) =>
    policies.some((policy) => policy.id === id && policy.version === version),
  );
  return isSame ? 'active' : 'policy_changed';
}

/** A grant to revoke. */
interface GrantRevocation {
  readonly tenantId: number;
  readonly id: string;
  readonly revokedBy: RequestActor;
}

/**
 * Revokes a grant, and records that in its session. Actions that it allowed before stay allowed.
 *
 * @returns the revoked grant, and `true` if it was not revoked before
 * @throws ApiError `NOT_FOUND`.
 */
async function revokeGrantOf(
  parts: RecordingParts,
  write: Write,
  { tenantId, id, revokedBy }: GrantRevocation,
): Promise<{ readonly row: ApprovalGrantRow; readonly isNew: boolean }> {
  const nowMs = Date.now();
  const isNew = await revokeGrant(
    write.db,
    { tenant_id: tenantId, id },
    { revoked_by: revokedBy.id, revoked_principal: revokedBy.principal },
    nowMs,
  );
  const row = await findGrant(write.db, tenantId, id);
  if (!row) throw notFound('grant');
  if (isNew) {
    const session = { agentId: row.agent_id, sessionId: row.session_id };
    const payload: GrantRevocationPayload = {
      toolName: row.tool_name,
      decision: 'grant_revoked',
      grantId: id,
      decidedBy: revokedBy.id,
      ...(revokedBy.principal !== null && { principal: revokedBy.principal }),
    };
    await recordDecision(parts, write, tenantId, session, payload, nowMs);
  }
  return { row, isNew };
}
