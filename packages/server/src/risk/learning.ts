import {
  emptyBaseline,
  type LearnOptions,
  learn,
  parseBaseline,
  parseSession,
  score,
  serializeBaseline,
} from '@actlog/risk';
import { lockNames } from '../storage/locks.ts';
import {
  findBaseline,
  findSessionRisk,
  markLearned,
  saveBaseline,
  sessionsToLearn,
} from '../storage/risk-store.ts';
import { lockSessions } from '../storage/session-store.ts';
import type { Storage } from '../storage/storage.ts';
import type { Database } from '../storage/transaction.ts';

/** Milliseconds without an event after which a session counts as ended. */
const endedAfterMs = 30 * 60_000;

/** Sessions that one transaction learns from. */
const learnedAtOnce = 100;

/**
 * Lets the baselines of agents learn from the sessions that have ended, each once. A session keeps the baseline
 * that it began with, so its score never changes by what is learned later.
 *
 * @param signal - aborts to have the rest left for another time
 * @returns how many sessions were looked at.
 */
export async function learnFromEndedSessions(
  storage: Storage,
  nowMs: number,
  signal?: AbortSignal,
): Promise<number> {
  let looked = 0;
  while (!signal?.aborted) {
    const ended = await storage.readAcross('sweep', (db) =>
      sessionsToLearn(db, nowMs - endedAfterMs, learnedAtOnce),
    );
    if (ended.length === 0) break;
    for (const [tenantId, sessions] of Map.groupBy(ended, (session) => session.tenant_id)) {
      await storage.write(tenantId, async ({ db }) => {
        await learnFrom(db, tenantId, sessions);
        // Within the transaction, so that no event can come in between that goes on with what was at hand.
        storage.forgetSessions();
      });
    }
    looked += ended.length;
  }
  return looked;
}

async function learnFrom(
  db: Database,
  tenantId: number,
  sessions: readonly { readonly id: string; readonly agent_id: string }[],
): Promise<void> {
  // A baseline is read, added to and written back.
  await lockNames(db, tenantId, ['learning']);
  // All at once, in the order in which all lock sessions.
  await lockSessions(
    db,
    tenantId,
    sessions.map(({ id }) => id),
  );
  for (const { id, agent_id: agentId } of sessions) {
    if (await markLearned(db, tenantId, id)) await learnSession(db, tenantId, { id, agentId });
  }
}

/**
 * What came of a person's word that a session was usual work: it is among the past sessions that are kept of its agent;
 * it is not, because it has no call or there is no place for it; it may go on; or there is none.
 */
export type Confirmation = 'learned' | 'not-kept' | 'not-ended' | 'unknown';

/** Lets the baseline of its agent learn a session that a person has found to be usual work, whatever it scored. */
export async function learnConfirmedSession(
  storage: Storage,
  tenantId: number,
  id: string,
  nowMs: number,
): Promise<Confirmation> {
  return storage.write(tenantId, async ({ db }) => {
    await lockNames(db, tenantId, ['learning']);
    const session = (await lockSessions(db, tenantId, [id])).get(id);
    if (!session) return 'unknown';
    if (session.received_ms > nowMs - endedAfterMs) return 'not-ended';
    await markLearned(db, tenantId, id);
    storage.forgetSessions();
    const isLearned = await learnSession(
      db,
      tenantId,
      { id, agentId: session.agent_id },
      { isConfirmed: true },
    );
    return isLearned ? 'learned' : 'not-kept';
  });
}

/** Lets the baseline of the agent learn a session, whose row is locked; returns whether it did. */
async function learnSession(
  db: Database,
  tenantId: number,
  { id, agentId }: { readonly id: string; readonly agentId: string },
  options?: LearnOptions,
): Promise<boolean> {
  const stored = await findSessionRisk(db, tenantId, id);
  if (!stored) return false;
  const text = await findBaseline(db, tenantId, agentId);
  const baseline = text === null ? emptyBaseline() : parseBaseline(text);
  const state = parseSession(stored.state);
  const own = stored.baseline === null ? undefined : parseBaseline(stored.baseline);
  const isLearned = learn(baseline, state, score(state, { baseline: own }), options);
  if (isLearned) await saveBaseline(db, tenantId, agentId, serializeBaseline(baseline));
  return isLearned;
}
