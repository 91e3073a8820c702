import { personKey } from '@actlog/policy';
import type { SessionReview } from '@actlog/protocol';
import { contract, flag } from '@actlog/protocol/schemas';
import { judgedFactors } from '@actlog/risk';
import * as z from 'zod';
import { requireScope } from '../http/request-gate.ts';
import { sessionPath, validated } from '../http/request-input.ts';
import type { ServerCall, ServerRoute } from '../http/server-route.ts';
import { notFound, validationError } from '../lib/api-error.ts';
import { newIdentifier } from '../lib/identifier.ts';
import { type SessionListParts, sessionsPage } from '../resources/sessions.ts';
import { engineJudgments, judgedScore, storedSession } from '../risk/score-session.ts';
import { assignSessionTo, findSession, lockSessions } from '../storage/sessions/session-store.ts';
import {
  appliesTo,
  assigneeOf,
  dropHandling,
  findHandling,
  isHandled,
  judgmentsAbout,
  type SessionNoteRow,
  saveHandling,
  saveNote,
  sessionNotes,
} from '../storage/stores/judgment-store.ts';
import { findSessionRisk } from '../storage/stores/risk-store.ts';
import type { Database } from '../storage/transaction.ts';
import { actorOf, auditRequest, fieldChanges } from '../tenants/audit-log.ts';
import { handlingView, judgmentView, noteView, reason } from './judgment-body.ts';
import type { JudgmentParts } from './judgments.ts';

/** Body of `POST /server/v1/sessions/:id/handle`. */
const handleBody = z.strictObject({ reason });

/** Body of `POST /server/v1/sessions/:id/comments`. */
const commentBody = z.strictObject({ text: z.string().trim().min(1).max(1000) });

/** Body of `POST /server/v1/sessions/:id/assign`. */
const assignBody = z.strictObject({ assignee: z.string().trim().min(1).max(200).nullable() });

/** Maximum notes about one session. */
const maxNotes = 500;

/** Body of `POST /server/v1/sessions/:id/reopen`: missing or empty. */
const noBody = z.strictObject({}).optional();

/** Routes for what people found out about the risk of one session: read it, handle the session, open it again. */
export function sessionReviewRoutes(parts: JudgmentParts): ServerRoute[] {
  const { storage, scoring } = parts;
  const review = (call: ServerCall) =>
    storage.read(call.caller.tenantId, (db) => sessionReview(db, call.caller.tenantId, call.id));
  const changing = (path: string, handle: (call: ServerCall) => Promise<void>): ServerRoute => ({
    method: 'POST',
    path,
    success: 200,
    check: (caller) => requireScope(caller, 'decide'),
    async handle(call) {
      sessionPath({ id: call.id });
      await handle(call);
      return review(call);
    },
  });
  return [
    {
      method: 'GET',
      path: '/sessions/:id/review',
      success: 200,
      check: (caller) => requireScope(caller, 'read'),
      async handle(call) {
        sessionPath({ id: call.id });
        await scoring.beforeList(call.caller.tenantId);
        return review(call);
      },
    },
    changing('/sessions/:id/handle', (call) => handleSession(parts, call)),
    changing('/sessions/:id/reopen', (call) => reopenSession(parts, call)),
    changing('/sessions/:id/comments', (call) => commentOnSession(parts, call)),
    changing('/sessions/:id/assign', (call) => assignSession(parts, call)),
  ];
}

/** Query of `GET /server/v1/sessions`: the filters of `GET /v1/sessions`, and whom the sessions are assigned to. */
const assignedQuery = z.strictObject({
  ...contract['sessions.list'].query.shape,
  /** Only sessions that are assigned to this person, in any case of letters. */
  assignee: z.string().trim().min(1).max(200).optional(),
  /** `false` for sessions that are assigned to nobody. */
  assigned: flag.optional(),
});

/** Route `GET /server/v1/sessions`: the list of sessions, also by the person that they are assigned to. */
export function assignedSessionsRoute(
  parts: JudgmentParts & SessionListParts,
): ServerRoute<typeof assignedQuery> {
  return {
    method: 'GET',
    path: '/sessions',
    success: 200,
    query: assignedQuery,
    check: (caller) => requireScope(caller, 'read'),
    async handle({ caller: { tenantId }, query: { assigned, ...query } }) {
      if (assigned === true || (assigned === false && query.assignee !== undefined)) {
        throw validationError('query.assigned', 'not_allowed', 'must be `false`, without `assignee`');
      }
      await parts.scoring.beforeList(tenantId);
      const filters = assigned === false ? { ...query, assignee: null } : query;
      return sessionsPage(parts, tenantId, 'sessions.list', filters);
    },
  };
}

/** Returns what people found out about the risk of a session. @throws ApiError `NOT_FOUND`. */
async function sessionReview(db: Database, tenantId: number, id: string): Promise<SessionReview> {
  const nowMs = Date.now();
  const summary = await findSession(db, tenantId, id);
  if (!summary) throw notFound('session');
  const stored = await findSessionRisk(db, tenantId, id);
  const rows = await judgmentsAbout(db, tenantId, [summary]);
  const handling = await findHandling(db, tenantId, id);
  const notes = await sessionNotes(db, tenantId, id);
  const session = storedSession(summary, stored);
  const riskWith = (judgments: typeof rows) => {
    const { score, level } = judgedScore(session, judgments);
    return { score, level };
  };
  const risk = riskWith(rows);
  const { state, baseline } = session;
  const judgments = engineJudgments(rows, summary);
  return {
    sessionId: id,
    risk,
    riskWithoutJudgments: riskWith([]),
    factors: judgedFactors(state, { baseline, judgments }, summary.toolNames),
    judgments: rows.filter((row) => appliesTo(row, summary)).map((row) => judgmentView(row, nowMs)),
    status: !handling ? 'open' : isHandled(handling, risk.score) ? 'handled' : 'reopened',
    handling: handling ? handlingView(handling) : null,
    assignee: assigneeOf(notes),
    notes: notes.map(noteView),
  };
}

/** Marks a session as handled at its current score. */
async function handleSession(parts: JudgmentParts, call: ServerCall): Promise<void> {
  const { caller, id } = call;
  const { tenantId } = caller;
  const { reason: why } = validated('body', handleBody, call.body);
  const { id: handledBy, principal } = actorOf(parts, call);
  await parts.scoring.beforeList(tenantId);
  await parts.storage.write(tenantId, async ({ db }) => {
    const session = (await lockSessions(db, tenantId, [id])).get(id);
    if (!session) throw notFound('session');
    const former = await findHandling(db, tenantId, id);
    const score = Math.floor(session.risk_score ?? 0);
    if (former && former.reason === why && former.score === score) return;
    const next = {
      tenant_id: tenantId,
      session_id: id,
      score,
      reason: why,
      handled_ms: Date.now(),
      handled_by: handledBy,
      handled_principal: principal,
    };
    await saveHandling(db, next);
    const changes = fieldChanges(former, next, ['reason', 'score']);
    await auditRequest(parts, db, call, {
      action: 'session.handled',
      target: { id, name: null },
      changes,
    });
  });
}

/** Opens a handled session again. */
async function reopenSession(parts: JudgmentParts, call: ServerCall): Promise<void> {
  const { caller, id } = call;
  const { tenantId } = caller;
  validated('body', noBody, call.body);
  await parts.storage.write(tenantId, async ({ db }) => {
    if (!(await lockSessions(db, tenantId, [id])).has(id)) throw notFound('session');
    if (!(await dropHandling(db, tenantId, id))) return;
    await auditRequest(parts, db, call, {
      action: 'session.reopened',
      target: { id, name: null },
      changes: [],
    });
  });
}

/** Adds a comment to a session. */
async function commentOnSession(parts: JudgmentParts, call: ServerCall): Promise<void> {
  const { text } = validated('body', commentBody, call.body);
  await addNote(parts, call, { kind: 'comment', text });
}

/** Assigns a session to a person, or to nobody. */
async function assignSession(parts: JudgmentParts, call: ServerCall): Promise<void> {
  const { assignee } = validated('body', assignBody, call.body);
  await addNote(parts, call, { kind: 'assigned', text: assignee ?? '' });
}

/** Adds a note to a session. An assignment that changes nothing adds none. */
async function addNote(
  parts: JudgmentParts,
  call: ServerCall,
  note: Pick<SessionNoteRow, 'kind' | 'text'>,
): Promise<void> {
  const { caller, id } = call;
  const { tenantId } = caller;
  const { id: writtenBy, principal } = actorOf(parts, call);
  await parts.storage.write(tenantId, async ({ db }) => {
    if (!(await lockSessions(db, tenantId, [id])).has(id)) throw notFound('session');
    const notes = await sessionNotes(db, tenantId, id);
    const before = assigneeOf(notes);
    if (note.kind === 'assigned' && before === (note.text || null)) return;
    if (notes.length >= maxNotes) {
      throw validationError(
        'body',
        'too_many',
        `would be note ${maxNotes + 1} of this session; it can have ${maxNotes}`,
      );
    }
    await saveNote(db, {
      tenant_id: tenantId,
      session_id: id,
      id: newIdentifier('nte'),
      ...note,
      written_ms: Date.now(),
      written_by: writtenBy,
      written_principal: principal,
    });
    const isComment = note.kind === 'comment';
    if (!isComment) await assignSessionTo(db, tenantId, id, note.text === '' ? null : personKey(note.text));
    await auditRequest(parts, db, call, {
      action: isComment ? 'session.commented' : 'session.assigned',
      target: { id, name: null },
      changes: isComment ? [] : [{ field: 'assignee', before, after: note.text || null }],
    });
  });
}
