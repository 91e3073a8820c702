import type { RiskJudgmentChange } from '@actlog/protocol';
import { flag, pageQuery } from '@actlog/protocol/schemas';
import { actionsOf, parseSession } from '@actlog/risk';
import * as z from 'zod';
import { requireScope } from '../http/request-gate.ts';
import { callerFields, validated } from '../http/request-input.ts';
import { type ListParts, listRoute, type ServerCall, type ServerRoute } from '../http/server-route.ts';
import { notFound } from '../lib/api-error.ts';
import { newIdentifier } from '../lib/identifier.ts';
import { effectView, judgmentReach, rescoreJudged, sessionsReceivedSince } from '../risk/judgment-effect.ts';
import { forgetSession } from '../risk/learning.ts';
import type { RiskScoring } from '../risk/risk-scoring.ts';
import { lockNames } from '../storage/locks.ts';
import { findSession } from '../storage/sessions/session-store.ts';
import type { Storage } from '../storage/storage.ts';
import {
  countActiveJudgments,
  countJudgments,
  endJudgment,
  endOfTime,
  findJudgment,
  insertJudgment,
  listJudgments,
  type RiskJudgmentRow,
} from '../storage/stores/judgment-store.ts';
import { findSessionRisk } from '../storage/stores/risk-store.ts';
import type { Database } from '../storage/transaction.ts';
import { type AuditParts, actorOf, auditRequest, fieldChanges } from '../tenants/audit-log.ts';
import { requireRoom } from '../tenants/quotas.ts';
import { judgmentDraft, judgmentView } from './judgment-body.ts';

const dayMs = 24 * 3_600_000;

/** Query of `GET /server/v1/judgments`. */
const judgmentsQuery = z.strictObject({
  ...pageQuery.shape,
  /** Only judgments of this kind. */
  kind: z.enum(['expected', 'attack']).optional(),
  /** Only judgments about this session alone. */
  sessionId: z.string().min(1).optional(),
  /** Only judgments about this agent. */
  agentId: z.string().min(1).optional(),
  /** `true` for judgments that apply to new events, `false` for the others; both if omitted. */
  active: flag.optional(),
});

/** Body of `POST /server/v1/judgments/:id/end`; a missing body equals an empty one. */
const endBody = z
  .strictObject({
    /** `true` if past sessions are scored without it, too. A judgment about one session is always taken back. */
    undo: z.boolean().default(false),
  })
  .prefault({});

/** Fields of a judgment that the audit log keeps. */
const auditedFields = ['kind', 'scope', 'reason', 'appliesFrom', 'expiresAt', 'endedAt', 'isUndone'] as const;

/** Parts of {@link judgmentRoutes}. */
export interface JudgmentParts extends AuditParts {
  readonly storage: Storage;
  readonly scoring: RiskScoring;
}

/** Routes of judgments: what people found out about what raises the risk of sessions. */
export function judgmentRoutes(parts: JudgmentParts): ServerRoute[] {
  return [
    {
      method: 'POST',
      path: '/judgments/preview',
      success: 200,
      check: (caller) => requireScope(caller, 'manage'),
      async handle(call) {
        const draft = await draftRow(parts, call, Date.now());
        return effectView(await judgmentReach(parts.storage, undefined, draft));
      },
    },
    {
      method: 'POST',
      path: '/judgments',
      success: 201,
      check: (caller) => requireScope(caller, 'manage'),
      handle: (call) => createJudgment(parts, call),
    },
    {
      method: 'POST',
      path: '/judgments/:id/end',
      success: 200,
      check: (caller) => requireScope(caller, 'manage'),
      handle: (call) => end(parts, call),
    },
  ];
}

/** Route `GET /server/v1/judgments`: judgments, newest first. */
export function judgmentsRoute(parts: ListParts): ServerRoute<typeof judgmentsQuery> {
  return listRoute(parts, {
    name: 'judgments',
    query: judgmentsQuery,
    check: (caller) => requireScope(caller, 'read'),
    rows: (db, { tenantId, query: { kind, sessionId, agentId, active: isActive }, nowMs }, page) =>
      listJudgments(db, { tenantId, filters: { kind, sessionId, agentId, isActive }, nowMs, ...page }),
    view: judgmentView,
  });
}

/** Returns the number of actions of a session that were scored; 0 for an unknown one. */
async function scoredActions(
  { storage }: JudgmentParts,
  tenantId: number,
  sessionId: string,
): Promise<number> {
  const stored = await storage.read(tenantId, (db) => findSessionRisk(db, tenantId, sessionId));
  return stored ? actionsOf(parseSession(stored.state)) : 0;
}

/** Returns the judgment that a request describes, as it would be stored. */
async function draftRow(parts: JudgmentParts, call: ServerCall, nowMs: number): Promise<RiskJudgmentRow> {
  const { kind, scope, reason, expiresMs, pastDays } = judgmentDraft(call.body, nowMs);
  const { id: createdBy, principal } = actorOf(parts, call);
  const { tenantId } = call.caller;
  await parts.scoring.beforeList(tenantId);
  const actions = scope.sessionId === null ? null : await scoredActions(parts, tenantId, scope.sessionId);
  return {
    tenant_id: tenantId,
    id: newIdentifier('jdg'),
    kind,
    session_id: scope.sessionId,
    agent_id: scope.agentId,
    tool_name: scope.toolName,
    rule_id: scope.ruleId,
    actions,
    reason,
    created_ms: nowMs,
    created_by: createdBy,
    created_principal: principal,
    from_ms: scope.sessionId === null ? Math.max(0, nowMs - Math.floor(pastDays * dayMs)) : 0,
    until_ms: expiresMs ?? endOfTime,
    expires_ms: expiresMs,
    ended_ms: null,
    ended_by: null,
    ended_principal: null,
  };
}

/** Saves a judgment, and applies it to the past sessions within its reach. */
async function createJudgment(parts: JudgmentParts, call: ServerCall): Promise<RiskJudgmentChange> {
  const { storage, quotas } = parts;
  const { tenantId } = call.caller;
  const nowMs = Date.now();
  const draft = await draftRow(parts, call, nowMs);
  const reach = await judgmentReach(storage, undefined, draft);
  const row = { ...draft, from_ms: reach.fromMs };
  await change(
    parts,
    call,
    row,
    reach.changed.map(({ summary }) => summary.id),
    nowMs,
    async (db) => {
      const session = row.session_id === null ? undefined : await findSession(db, tenantId, row.session_id);
      if (row.session_id !== null && !session) throw notFound('session');
      if (row.session_id === null) await requireRoom(db, tenantId, 'judgments', countActiveJudgments, quotas);
      await requireRoom(db, tenantId, 'storedJudgments', countJudgments, quotas);
      await insertJudgment(db, row);
      if (session && row.kind === 'attack') await forgetSession(db, tenantId, session);
      return undefined;
    },
  );
  call.log.info({ ...callerFields(call.caller), judgmentId: row.id }, 'risk judged');
  return { judgment: judgmentView(row, nowMs), effect: effectView(reach) };
}

/** Ends a judgment; ending it again returns the same. */
async function end(parts: JudgmentParts, call: ServerCall): Promise<RiskJudgmentChange> {
  const { storage } = parts;
  const { tenantId } = call.caller;
  const { undo } = validated('body', endBody, call.body);
  const nowMs = Date.now();
  const former = await storage.read(tenantId, (db) => findJudgment(db, tenantId, call.id));
  if (!former) throw notFound('judgment');
  const { id: endedBy, principal } = actorOf(parts, call);
  const ended = {
    ended_ms: former.ended_ms ?? nowMs,
    ended_by: former.ended_by ?? endedBy,
    ended_principal: former.ended_ms === null ? principal : former.ended_principal,
    until_ms: Math.min(former.until_ms, nowMs),
  };
  const isUndone = undo || former.session_id !== null;
  const next = {
    ...former,
    ...ended,
    from_ms: isUndone ? Math.max(former.from_ms, ended.until_ms) : former.from_ms,
  };
  await parts.scoring.beforeList(tenantId);
  const reach = await judgmentReach(storage, former, next);
  const isUnchanged = former.ended_ms !== null && next.from_ms === former.from_ms;
  if (!isUnchanged) {
    await change(
      parts,
      call,
      next,
      reach.changed.map(({ summary }) => summary.id),
      nowMs,
      async (db) => {
        const current = await findJudgment(db, tenantId, call.id);
        if (!current) throw notFound('judgment');
        await endJudgment(db, next, next);
        return current;
      },
    );
    call.log.info({ ...callerFields(call.caller), judgmentId: next.id }, 'judgment of risk ended');
  }
  return { judgment: judgmentView(isUnchanged ? former : next, nowMs), effect: effectView(reach) };
}

/**
 * Changes a judgment in one transaction with the scores that it changes and its entry in the audit log.
 *
 * @param sessionIds - sessions whose scores change; those that got events since `readMs` are scored, too
 * @param work - makes the change, and returns the judgment before it
 */
async function change(
  parts: JudgmentParts,
  call: ServerCall,
  next: RiskJudgmentRow,
  sessionIds: readonly string[],
  readMs: number,
  work: (db: Database) => Promise<RiskJudgmentRow | undefined>,
): Promise<void> {
  const { tenantId } = call.caller;
  await parts.storage.write(tenantId, async ({ db }) => {
    await lockNames(db, tenantId, ['judgments', 'learning']);
    const former = await work(db);
    const since = await sessionsReceivedSince(db, tenantId, readMs);
    await rescoreJudged(db, tenantId, [...new Set([...sessionIds, ...since])].sort());
    // Within the transaction, so that no event in between uses outdated cached sessions.
    parts.storage.clearSessionCache();
    const [before, after] = [former && judgmentView(former, readMs), judgmentView(next, readMs)];
    await auditRequest(parts, db, call, {
      action: former ? 'judgment.ended' : 'judgment.created',
      target: { id: next.id, name: next.rule_id },
      changes: fieldChanges(before, after, auditedFields),
    });
  });
}
