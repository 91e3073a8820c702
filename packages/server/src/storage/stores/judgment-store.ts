import type { RiskJudgmentKind } from '@actlog/protocol';
import type { Insertable, Selectable } from 'kysely';
import type { SessionSummary } from '../sessions/session-store.ts';
import { querySliceWithin, type Slice } from '../slices.ts';
import type { HandledSessionTable, RiskJudgmentTable, SessionNoteTable } from '../tables.ts';
import { type Database, oneOf, preparedQuery } from '../transaction.ts';

/** A stored judgment. */
export type RiskJudgmentRow = Selectable<RiskJudgmentTable>;

/** End of a judgment without an end. */
export const endOfTime = Number.MAX_SAFE_INTEGER;

function ofTenant(db: Database, tenantId: number) {
  return db.selectFrom('risk_judgments').where('tenant_id', '=', tenantId);
}

/** Adds a judgment. */
export async function insertJudgment(db: Database, row: Insertable<RiskJudgmentTable>): Promise<void> {
  await db.insertInto('risk_judgments').values(row).execute();
}

/** Returns a judgment, or `undefined` if there is none. */
export function findJudgment(
  db: Database,
  tenantId: number,
  id: string,
): Promise<RiskJudgmentRow | undefined> {
  return ofTenant(db, tenantId).selectAll().where('id', '=', id).executeTakeFirst();
}

const judgmentsOf = preparedQuery((db, tenantId: number, sessionsJson: string, oldestMs: number) =>
  ofTenant(db, tenantId)
    .selectAll()
    .where((eb) =>
      eb.or([
        eb.and([eb('session_id', 'is', null), eb('until_ms', '>', oldestMs)]),
        eb.and([eb('session_id', 'is not', null), oneOf(db, 'session_id', sessionsJson)]),
      ]),
    )
    .orderBy('id'),
);

/** Returns the judgments that may apply to any of the sessions, oldest first. */
export function judgmentsAbout(
  db: Database,
  tenantId: number,
  sessions: readonly Pick<SessionSummary, 'id' | 'received_ms'>[],
): Promise<RiskJudgmentRow[]> {
  const oldestMs = Math.min(...sessions.map(({ received_ms: receivedMs }) => receivedMs));
  return judgmentsOf(db, tenantId, JSON.stringify(sessions.map(({ id }) => id)), oldestMs);
}

/** `true` if a judgment applies to a session, apart from its tool and its rule. */
export function appliesTo(
  judgment: Pick<RiskJudgmentRow, 'kind' | 'session_id' | 'agent_id' | 'from_ms' | 'until_ms'>,
  { id, agentIds, received_ms: receivedMs }: Pick<SessionSummary, 'id' | 'agentIds' | 'received_ms'>,
): boolean {
  const { kind, session_id: sessionId, agent_id: agentId, from_ms: fromMs, until_ms: untilMs } = judgment;
  if (sessionId !== null && sessionId !== id) return false;
  if (agentId !== null && !agentIds.includes(agentId)) return false;
  // What is expected of one agent is not expected of the others.
  if (agentId !== null && kind === 'expected' && agentIds.length > 1) return false;
  return fromMs <= receivedMs && receivedMs < untilMs;
}

/** Filters of a list of judgments; a judgment must pass all of them. */
export interface JudgmentFilters {
  readonly kind?: RiskJudgmentKind | undefined;
  readonly sessionId?: string | undefined;
  readonly agentId?: string | undefined;
  /** `true` for judgments that still apply to new events, `false` for the others. */
  readonly isActive?: boolean | undefined;
}

/** Returns a tenant's judgments, newest first. */
export function listJudgments(
  db: Database,
  options: {
    readonly tenantId: number;
    readonly filters: JudgmentFilters;
    readonly nowMs: number;
    /** Id of the judgment after which the list begins. */
    readonly afterId?: string | undefined;
    readonly limit: number;
  },
): Promise<Slice<RiskJudgmentRow>> {
  const { filters, nowMs } = options;
  let query = ofTenant(db, options.tenantId).selectAll();
  if (options.afterId !== undefined) query = query.where('id', '<', options.afterId);
  if (filters.kind !== undefined) query = query.where('kind', '=', filters.kind);
  if (filters.sessionId !== undefined) query = query.where('session_id', '=', filters.sessionId);
  if (filters.agentId !== undefined) query = query.where('agent_id', '=', filters.agentId);
  if (filters.isActive === true) query = query.where('until_ms', '>', nowMs);
  if (filters.isActive === false) query = query.where('until_ms', '<=', nowMs);
  return querySliceWithin(options.limit, ['reason'], query.orderBy('id', 'desc'));
}

/** Ends a judgment. */
export async function endJudgment(
  db: Database,
  { tenant_id: tenantId, id }: Pick<RiskJudgmentRow, 'tenant_id' | 'id'>,
  changes: Pick<RiskJudgmentRow, 'from_ms' | 'until_ms' | 'ended_ms' | 'ended_by' | 'ended_principal'>,
): Promise<void> {
  await db
    .updateTable('risk_judgments')
    .set(changes)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Returns the number of judgments that apply to new events of more than one session. */
export async function countActiveJudgments(db: Database, tenantId: number): Promise<number> {
  const { count } = await ofTenant(db, tenantId)
    .where('session_id', 'is', null)
    .where('until_ms', '>', Date.now())
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Returns the number of judgments, ended ones included. */
export async function countJudgments(db: Database, tenantId: number): Promise<number> {
  const { count } = await ofTenant(db, tenantId)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The handling of a session. */
export type HandledSessionRow = Selectable<HandledSessionTable>;

/** Returns the handling of a session, or `undefined` if nobody handled it. */
export function findHandling(
  db: Database,
  tenantId: number,
  sessionId: string,
): Promise<HandledSessionRow | undefined> {
  return db
    .selectFrom('handled_sessions')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
}

/** Stores the handling of a session, instead of an earlier one. */
export async function saveHandling(db: Database, row: HandledSessionRow): Promise<void> {
  const { tenant_id: _tenant, session_id: _session, ...changes } = row;
  await db
    .insertInto('handled_sessions')
    .values(row)
    .onConflict((conflict) => conflict.columns(['tenant_id', 'session_id']).doUpdateSet(changes))
    .execute();
}

/** Deletes the handling of a session. Returns `true` if there was one. */
export async function dropHandling(db: Database, tenantId: number, sessionId: string): Promise<boolean> {
  const result = await db
    .deleteFrom('handled_sessions')
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** A note about a session. */
export type SessionNoteRow = Selectable<SessionNoteTable>;

/** Returns the notes about a session, oldest first. */
export function sessionNotes(db: Database, tenantId: number, sessionId: string): Promise<SessionNoteRow[]> {
  return db
    .selectFrom('session_notes')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .orderBy('id')
    .execute();
}

/** Stores a note about a session. */
export async function saveNote(db: Database, row: SessionNoteRow): Promise<void> {
  await db.insertInto('session_notes').values(row).execute();
}

/** Returns the person that a session with these notes is assigned to, or null for nobody. */
export function assigneeOf(notes: readonly SessionNoteRow[]): string | null {
  return notes.findLast(({ kind }) => kind === 'assigned')?.text || null;
}

/** `true` if the session is handled: its score has not risen since. */
export function isHandled(handling: Pick<HandledSessionRow, 'score'>, score: number | null): boolean {
  return Math.floor(score ?? 0) <= handling.score;
}
