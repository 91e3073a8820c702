import type { RiskJudgmentEffect, RiskLevel, RiskValue } from '@actlog/protocol';
import {
  findSessions,
  lockSessions,
  receivedSince,
  type SessionSummary,
} from '../storage/sessions/session-store.ts';
import type { Storage } from '../storage/storage.ts';
import { judgmentsAbout, type RiskJudgmentRow } from '../storage/stores/judgment-store.ts';
import { findSessionRisks, updateListedRisks } from '../storage/stores/risk-store.ts';
import type { Database } from '../storage/transaction.ts';
import { countLevels } from './read-risk.ts';
import { judgedScore, storedSession } from './score-session.ts';

/** Maximum sessions that one judgment is applied to, newest first. */
const maxExamined = 10_000;

/** Lets other requests of the process have their turn. */
const nextTurn = () => new Promise(setImmediate);

/** Sessions scored between two turns of the event loop. */
const sessionsPerTurn = 50;

/** Sessions that an effect names. */
const largestShown = 10;

/** A session whose score a judgment changes. */
interface ChangedSession {
  readonly summary: SessionSummary;
  readonly before: RiskValue;
  readonly after: RiskValue;
}

/** Sessions within reach of a judgment, and those whose scores it changes. */
export interface JudgmentReach {
  readonly examined: number;
  readonly isComplete: boolean;
  /** Earliest `received_ms` of the examined sessions; `fromMs` of the judgment if all within reach are examined. */
  readonly fromMs: number;
  readonly changed: readonly ChangedSession[];
}

/** Returns the sessions that a judgment may apply to, whose newest event was received last first. */
async function sessionsWithin(
  db: Database,
  { tenant_id: tenantId, session_id: sessionId, agent_id: agentId, from_ms: fromMs }: RiskJudgmentRow,
): Promise<{ id: string; received_ms: number }[]> {
  let query = db
    .selectFrom('sessions')
    .select(['id', 'received_ms'])
    .where('tenant_id', '=', tenantId)
    .where(receivedSince(fromMs));
  if (sessionId !== null) query = query.where('id', '=', sessionId);
  if (agentId !== null) {
    query = query.where((eb) =>
      eb.exists(
        eb
          .selectFrom('session_agents')
          .select('session_agents.agent_id')
          .whereRef('session_agents.session_id', '=', 'sessions.id')
          .where('session_agents.tenant_id', '=', tenantId)
          .where('session_agents.agent_id', '=', agentId),
      ),
    );
  }
  return query
    .orderBy('received_minute', 'desc')
    .orderBy('received_ms', 'desc')
    .limit(maxExamined + 1)
    .execute();
}

/** Returns the sessions whose scores differ with one judgment more or less. */
async function changedBy(
  db: Database,
  tenantId: number,
  sessions: ReadonlyMap<string, SessionSummary>,
  { before, after }: Judgments,
): Promise<ChangedSession[]> {
  const summaries = [...sessions.values()];
  if (summaries.length === 0) return [];
  const risks = await findSessionRisks(db, tenantId, [...sessions.keys()]);
  const stored = await judgmentsAbout(db, tenantId, summaries);
  return summaries.flatMap((summary) => {
    const risk = risks.get(summary.id);
    if (!risk) return [];
    const session = storedSession(summary, risk);
    const [one, other] = [before, after].map((change) => {
      const { score, level } = judgedScore(session, change(stored));
      return { score, level };
    }) as [RiskValue, RiskValue];
    return one.score === other.score ? [] : [{ summary, before: one, after: other }];
  });
}

/** The judgments before and after a change, from those that are stored. */
interface Judgments {
  before(stored: readonly RiskJudgmentRow[]): readonly RiskJudgmentRow[];
  after(stored: readonly RiskJudgmentRow[]): readonly RiskJudgmentRow[];
}

const without = (stored: readonly RiskJudgmentRow[], { id }: RiskJudgmentRow) =>
  stored.filter((row) => row.id !== id);

/** Returns the judgments before and after one is added (its state `former` is undefined), changed or taken back. */
function changeOf(former: RiskJudgmentRow | undefined, next: RiskJudgmentRow): Judgments {
  return {
    before: (stored) => (former ? [...without(stored, former), former] : without(stored, next)),
    after: (stored) => [...without(stored, next), next],
  };
}

/**
 * Finds the sessions that a judgment is about, and scores each with it and without it. Reads a few at a time, so that other
 * requests get their turn.
 *
 * @param former - the judgment before its change; `undefined` for a new one
 */
export async function judgmentReach(
  storage: Storage,
  former: RiskJudgmentRow | undefined,
  next: RiskJudgmentRow,
): Promise<JudgmentReach> {
  const { tenant_id: tenantId } = next;
  const within = await storage.read(tenantId, (db) => sessionsWithin(db, former ?? next));
  const isComplete = within.length <= maxExamined;
  const examined = within.slice(0, maxExamined);
  const changed: ChangedSession[] = [];
  for (let start = 0; start < examined.length; start += sessionsPerTurn) {
    const ids = examined.slice(start, start + sessionsPerTurn).map(({ id }) => id);
    changed.push(
      ...(await storage.read(tenantId, async (db) =>
        changedBy(db, tenantId, await findSessions(db, tenantId, ids), changeOf(former, next)),
      )),
    );
    await nextTurn();
  }
  const fromMs = isComplete ? next.from_ms : (examined.at(-1)?.received_ms ?? next.from_ms);
  return { examined: examined.length, isComplete, fromMs, changed };
}

/**
 * Writes the scores of sessions that a judgment changes into the lists. Call it in the transaction of the change, after
 * it, with the sessions that were found before and those that got events since.
 */
export async function rescoreJudged(
  db: Database,
  tenantId: number,
  sessionIds: readonly string[],
): Promise<void> {
  for (let start = 0; start < sessionIds.length; start += sessionsPerTurn) {
    const ids = sessionIds.slice(start, start + sessionsPerTurn);
    const sessions = await lockSessions(db, tenantId, ids);
    const risks = await findSessionRisks(db, tenantId, ids);
    const summaries = [...sessions.values()];
    if (summaries.length === 0) continue;
    const stored = await judgmentsAbout(db, tenantId, summaries);
    const rescored = summaries.flatMap((summary) => {
      const risk = risks.get(summary.id);
      if (!risk || summary.risk_score === null) return [];
      const { score, level } = judgedScore(storedSession(summary, risk), stored);
      if (score === summary.risk_score) return [];
      const formerLevel = summary.risk_level;
      return [{ tenantId, formerLevel, summary: { ...summary, risk_score: score, risk_level: level } }];
    });
    await updateListedRisks(
      db,
      rescored.map(({ summary }) => ({ tenantId, summary, scoreChanged: true })),
    );
    await countLevels(
      db,
      rescored.filter(({ formerLevel, summary }) => formerLevel !== summary.risk_level),
    );
    await nextTurn();
  }
}

/** Returns the ids of the sessions that got events since a time. */
export async function sessionsReceivedSince(
  db: Database,
  tenantId: number,
  sinceMs: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('sessions')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where(receivedSince(sinceMs))
    .limit(maxExamined)
    .execute();
  return rows.map(({ id }) => id);
}

/** Returns the effect of a judgment as the API returns it. */
export function effectView({ examined, isComplete, changed }: JudgmentReach): RiskJudgmentEffect {
  const lowered = changed.filter(({ before, after }) => after.score < before.score).length;
  const moves = new Map<string, { from: RiskLevel; to: RiskLevel; sessions: number }>();
  for (const { before, after } of changed) {
    if (before.level === after.level) continue;
    const key = `${before.level} ${after.level}`;
    const move = moves.get(key) ?? { from: before.level, to: after.level, sessions: 0 };
    move.sessions += 1;
    moves.set(key, move);
  }
  const difference = ({ before, after }: ChangedSession) => Math.abs(after.score - before.score);
  return {
    examined,
    isComplete,
    lowered,
    raised: changed.length - lowered,
    levels: [...moves.values()].sort((one, other) => other.sessions - one.sessions),
    largest: changed
      .toSorted((one, other) => difference(other) - difference(one))
      .slice(0, largestShown)
      .map(({ summary: { id, agent_id: agentId }, before, after }) => ({
        sessionId: id,
        agentId,
        before,
        after,
      })),
  };
}
