import {
  emptyBaseline,
  forget,
  type LearnOptions,
  learn,
  parseBaseline,
  parseSession,
  serializeBaseline,
} from '@actlog/risk';
import { lockNames } from '../storage/locks.ts';
import { lockSessions, type SessionSummary } from '../storage/sessions/session-store.ts';
import type { Storage } from '../storage/storage.ts';
import { judgmentsAbout } from '../storage/stores/judgment-store.ts';
import {
  findBaseline,
  findSessionRisk,
  markLearned,
  saveBaseline,
  sessionsToLearn,
} from '../storage/stores/risk-store.ts';
import type { Database } from '../storage/transaction.ts';
import { judgedScore } from './score-session.ts';

/** Time without an event after which a session counts as ended, in milliseconds. */
const endedAfterMs = 30 * 60_000;

/** Number of sessions learned from per transaction. */
const learnedPerTransaction = 100;

/**
 * Updates the baselines of agents from sessions that have ended, each once. A session keeps the baseline that it began
 * with, so later learning never changes its score.
 *
 * @param signal - stops early when aborted; the remaining sessions are learned from next time
 * @returns the number of sessions processed.
 */
export async function learnFromEndedSessions(
  storage: Storage,
  nowMs: number,
  signal?: AbortSignal,
): Promise<number> {
  let processed = 0;
  while (!signal?.aborted) {
    const ended = await storage.readAcross('sweep', (db) =>
      sessionsToLearn(db, nowMs - endedAfterMs, learnedPerTransaction),
    );
    if (ended.length === 0) break;
    for (const [tenantId, sessions] of Map.groupBy(ended, (session) => session.tenant_id)) {
      await storage.write(tenantId, async ({ db }) => {
        await learnFrom(db, tenantId, sessions);
        // Within the transaction, so that no event in between uses outdated cached sessions.
        storage.clearSessionCache();
      });
    }
    processed += ended.length;
  }
  return processed;
}

async function learnFrom(
  db: Database,
  tenantId: number,
  sessions: readonly { readonly id: string; readonly agent_id: string }[],
): Promise<void> {
  // Locked, because a baseline is read, changed and written back.
  await lockNames(db, tenantId, ['learning']);
  // All at once, in the order in which every transaction locks sessions.
  const locked = await lockSessions(
    db,
    tenantId,
    sessions.map(({ id }) => id),
  );
  for (const { id } of sessions) {
    const session = locked.get(id);
    if (session && (await markLearned(db, tenantId, id))) await learnSession(db, tenantId, session);
  }
}

/**
 * Result of confirming a session as expected behavior: `learned`; `not-kept`, because it has no calls or no room is
 * left in the baseline; `not-ended`, because it may still go on; or `unknown` for an unknown session.
 */
export type LearningOutcome = 'learned' | 'not-kept' | 'not-ended' | 'unknown';

/**
 * Updates the agent's baseline from a session that a person confirmed as expected behavior, whatever its score.
 *
 * @param onLearned - runs in the same transaction if the baseline changed
 */
export async function learnConfirmedSession(
  storage: Storage,
  tenantId: number,
  id: string,
  nowMs: number,
  onLearned: (db: Database) => Promise<void>,
): Promise<LearningOutcome> {
  return storage.write(tenantId, async ({ db }) => {
    await lockNames(db, tenantId, ['learning']);
    const session = (await lockSessions(db, tenantId, [id])).get(id);
    if (!session) return 'unknown';
    if (session.received_ms > nowMs - endedAfterMs) return 'not-ended';
    await markLearned(db, tenantId, id);
    storage.clearSessionCache();
    const isLearned = await learnSession(db, tenantId, session, { isConfirmed: true });
    if (isLearned) await onLearned(db);
    return isLearned ? 'learned' : 'not-kept';
  });
}

/** Updates the agent's baseline from a session whose row is locked. Returns `true` if the baseline changed. */
async function learnSession(
  db: Database,
  tenantId: number,
  session: SessionSummary,
  options?: LearnOptions,
): Promise<boolean> {
  const { id, agent_id: agentId } = session;
  const stored = await findSessionRisk(db, tenantId, id);
  if (!stored) return false;
  const text = await findBaseline(db, tenantId, agentId);
  const baseline = text === null ? emptyBaseline() : parseBaseline(text);
  const state = parseSession(stored.state);
  const initialBaseline = stored.baseline === null ? undefined : parseBaseline(stored.baseline);
  const judgments = await judgmentsAbout(db, tenantId, [session]);
  const risk = judgedScore({ summary: session, state, baseline: initialBaseline }, judgments);
  const isLearned = learn(baseline, state, risk, options);
  if (isLearned) await saveBaseline(db, tenantId, agentId, serializeBaseline(baseline));
  return isLearned;
}

/**
 * Removes a session from the baseline of its agent, because a person confirmed it as an attack. Sessions that have begun
 * keep the baseline that they began with. Call it with the name `learning` locked.
 */
export async function forgetSession(
  db: Database,
  tenantId: number,
  { id, agent_id: agentId }: SessionSummary,
): Promise<void> {
  const stored = await findSessionRisk(db, tenantId, id);
  const text = await findBaseline(db, tenantId, agentId);
  if (!stored || text === null) return;
  const baseline = parseBaseline(text);
  if (forget(baseline, parseSession(stored.state))) {
    await saveBaseline(db, tenantId, agentId, serializeBaseline(baseline));
  }
}
