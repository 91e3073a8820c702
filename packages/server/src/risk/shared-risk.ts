import type { RiskLevel, WebhookEvent } from '@actlog/protocol';
import {
  type Arrival,
  emptySession,
  observe,
  parseBaseline,
  parseSession,
  type RiskEvent,
  serializeSession,
} from '@actlog/risk';
import { sql } from 'kysely';
import type { ReachedLevels } from '../storage/event-recording.ts';
import { findSessions, lockSessions, type SessionSummary } from '../storage/sessions/session-store.ts';
import { judgmentsAbout, type RiskJudgmentRow } from '../storage/stores/judgment-store.ts';
import {
  findBaselines,
  findSessionRisks,
  saveSessionRisks,
  unscoredEvents,
} from '../storage/stores/risk-store.ts';
import { newestToolTagsVersion } from '../storage/stores/tool-tag-store.ts';
import type { Database, Write } from '../storage/transaction.ts';
import type { WebhookOutbox } from '../webhooks/webhook-outbox.ts';
import { addReached, countLevels } from './read-risk.ts';
import { type RiskObserver, storedRiskEvent } from './risk-scoring.ts';
import { type ScorableSession, scoreSession } from './score-session.ts';
import { StampsByTenant } from './stamps-by-tenant.ts';
import { FrozenTags } from './tool-tags.ts';

/** Reference to a session of a tenant. */
export interface SessionPlace {
  readonly tenant_id: number;
  readonly id: string;
}

/** A scored session, with the arrival up to which it had been scored before. */
interface ScoredSession extends ScorableSession {
  readonly seenArrival: number;
  readonly formerLevel: RiskLevel | null;
  readonly baselineText: string | null;
  readonly tagsVersion: number | null;
  readonly rise: WebhookEvent | undefined;
  /** The judgments that it was scored with, as a text to compare. */
  readonly judged: string;
}

/**
 * Risk of sessions that several processes write. No process can know a session's state from memory, so scoring reads
 * the stored state and the missing events; a busy session is read once for about a second of events. Reading and
 * scoring take no locks. A result is stored only if no process has stored a later state.
 */
export class SharedRisk implements RiskObserver {
  readonly #outbox: WebhookOutbox;
  readonly #tags = new FrozenTags();
  readonly #stamps = new StampsByTenant();
  /** Sessions written by the open transaction of this process. */
  #written: SessionPlace[] = [];
  #reached: ReachedLevels = {};
  /** Sessions that this process wrote and has not scored since. */
  readonly #unscored = new Map<string, SessionPlace>();

  constructor(outbox: WebhookOutbox) {
    this.#outbox = outbox;
  }

  /** Returns the sessions that reached a level since the last call. */
  takeReached(): ReachedLevels {
    const reached = this.#reached;
    this.#reached = {};
    return reached;
  }

  /** Number of sessions that still must be scored. */
  get unscored(): number {
    return this.#unscored.size;
  }

  /** Removes and returns unscored sessions; the caller must score them or put them back. */
  takeUnscored(limit: number): SessionPlace[] {
    const taken = [...this.#unscored].slice(0, limit);
    for (const [key] of taken) this.#unscored.delete(key);
    return taken.map(([, place]) => place);
  }

  /** Adds sessions to be scored later. */
  putBack(places: readonly SessionPlace[]): void {
    for (const place of places) this.#unscored.set(`${place.tenant_id} ${place.id}`, place);
  }

  /** Must be called at the end of a transaction, committed or not. */
  endTransaction(isCommitted: boolean): void {
    this.#stamps.endTransaction(isCommitted);
    if (isCommitted) this.putBack(this.#written);
    this.#written = [];
  }

  loadTenant(db: Database, tenantId: number): Promise<void> {
    return this.#stamps.load(db, tenantId);
  }

  /** Does nothing; `score` loads sessions. */
  async load(): Promise<void> {}

  stamp(tenantId: number, event: RiskEvent, arrival: Arrival): number {
    return this.#stamps.stamp(tenantId, event, arrival);
  }

  revert(db: Database, tenantId: number, repeats: readonly RiskEvent[]): Promise<void> {
    return this.#stamps.revert(db, tenantId, repeats);
  }

  observe(tenantId: number, { sessionId }: RiskEvent): void {
    this.#written.push({ tenant_id: tenantId, id: sessionId });
  }

  /** Shares the observed state of a tenant with the other processes. */
  share(write: Write, tenantId: number): Promise<void> {
    return this.#stamps.share(write, [tenantId]);
  }

  /** Scores those of the sessions whose stored risk lacks events, in one snapshot. */
  async score(db: Database, tenantId: number, sessionIds: readonly string[]): Promise<ScoredSession[]> {
    const found = [...(await findSessions(db, tenantId, sessionIds)).values()];
    const behind = found.filter((summary) => summary.risk_arrival < summary.last_arrival);
    if (behind.length === 0) return [];
    const ids = behind.map(({ id }) => id);
    const stored = await findSessionRisks(db, tenantId, ids);
    const fresh = behind.filter(({ id }) => !stored.has(id)).map((summary) => summary.agent_id);
    const baselines =
      fresh.length > 0 ? await findBaselines(db, tenantId, [...new Set(fresh)]) : new Map<string, string>();
    const newestTags = fresh.length > 0 ? await newestToolTagsVersion(db, tenantId) : null;
    const events = Map.groupBy(await unscoredEvents(db, tenantId, ids), (row) => row.session_id);
    const judgments = await judgmentsAbout(db, tenantId, behind);
    const scored: ScoredSession[] = [];
    for (const summary of behind) {
      const storedRisk = stored.get(summary.id);
      const tagsVersion = storedRisk ? storedRisk.tags_version : newestTags;
      const tags = await this.#tags.of(db, tenantId, tagsVersion);
      const baselineText = storedRisk ? storedRisk.baseline : (baselines.get(summary.agent_id) ?? null);
      const state = storedRisk ? parseSession(storedRisk.state) : emptySession();
      for (const row of events.get(summary.id) ?? []) {
        observe(state, storedRiskEvent(row), { stamp: row.stamp, tags });
      }
      const baseline = baselineText === null ? undefined : parseBaseline(baselineText);
      const { risk_arrival: seenArrival, risk_level: formerLevel } = summary;
      const rise = scoreSession({ summary, state, baseline }, judgments);
      const judged = judgmentsText(judgments);
      scored.push({
        summary,
        state,
        baseline,
        baselineText,
        tagsVersion,
        seenArrival,
        formerLevel,
        rise,
        judged,
      });
    }
    return scored;
  }

  /** Stores the result of `score`. Returns the sessions whose risk another process has stored meanwhile. */
  async store(write: Write, tenantId: number, scored: readonly ScoredSession[]): Promise<string[]> {
    const won = await advanceListedRisks(
      write.db,
      tenantId,
      (await withCurrentJudgments(write.db, tenantId, scored)).map(({ summary, seenArrival }) => ({
        summary,
        seenArrival,
      })),
    );
    const stored = scored.filter(({ summary }) => won.has(summary.id));
    await saveSessionRisks(
      write.db,
      stored.map(({ summary, state, baselineText, tagsVersion }) => ({
        tenant_id: tenantId,
        session_id: summary.id,
        state: serializeSession(state),
        baseline: baselineText,
        tags_version: tagsVersion,
      })),
    );
    const rescored = stored.map(({ summary, formerLevel }) => ({
      tenantId,
      // An earlier event may have arrived since the session was read.
      summary: { ...summary, started_ms: won.get(summary.id) ?? summary.started_ms },
      formerLevel,
    }));
    await countLevels(write.db, rescored);
    write.afterCommit(() => addReached(this.#reached, rescored));
    for (const { rise } of stored) if (rise) await this.#outbox.queue(write, tenantId, rise);
    return scored.flatMap(({ summary: { id } }) => (won.has(id) ? [] : [id]));
  }
}

function judgmentsText(rows: readonly RiskJudgmentRow[]): string {
  return rows.map(({ id, from_ms: fromMs, until_ms: untilMs }) => `${id} ${fromMs} ${untilMs}`).join();
}

/**
 * Returns those of the sessions that were scored with the judgments of now. The sessions are locked first, as a change of a
 * judgment does: whichever comes second sees what the first one wrote.
 */
async function withCurrentJudgments(
  db: Database,
  tenantId: number,
  scored: readonly ScoredSession[],
): Promise<readonly ScoredSession[]> {
  const summaries = scored.map(({ summary }) => summary);
  await lockSessions(
    db,
    tenantId,
    summaries.map(({ id }) => id),
  );
  const current = judgmentsText(await judgmentsAbout(db, tenantId, summaries));
  return scored.filter(({ judged }) => judged === current);
}

/** A scored session, and the arrival up to which it had been scored when it was read. */
interface AdvancedRisk {
  readonly summary: SessionSummary;
  readonly seenArrival: number;
}

/**
 * Writes the risk that lists show, for the sessions whose risk is unchanged since it was read. Of racing processes one
 * succeeds per session.
 *
 * @returns the current start of each session that was written, in Unix milliseconds, by its id.
 */
async function advanceListedRisks(
  db: Database,
  tenantId: number,
  risks: readonly AdvancedRisk[],
): Promise<Map<string, number>> {
  if (risks.length === 0) return new Map();
  const given = risks.map(({ summary: { id, risk_score, risk_level, risk_arrival }, seenArrival }) => ({
    id,
    risk_score,
    risk_level,
    risk_arrival,
    seen_arrival: seenArrival,
  }));
  // Locks sessions in the order in which every transaction does. An agent that joins meanwhile brings an event, and
  // the event another round of scoring.
  const { rows } = await sql<{ id: string; started_ms: number }>`
    with given as materialized (
      select * from json_to_recordset(${JSON.stringify(given)}::json) as risk (
        id text, risk_score double precision, risk_level text, risk_arrival bigint, seen_arrival bigint
      )
    ), locked as materialized (
      select id from sessions where tenant_id = ${tenantId} and id = any(array(select id from given)) order by id for update
    ), advanced as (
      update sessions
      set risk_score = given.risk_score, risk_level = given.risk_level, risk_arrival = given.risk_arrival
      from given join locked on locked.id = given.id
      where sessions.tenant_id = ${tenantId} and sessions.id = given.id
        and sessions.risk_arrival = given.seen_arrival
      returning sessions.id, sessions.risk_score, sessions.started_ms
    ), of_agents as (
      update session_agents as acted
      set risk_score = advanced.risk_score
      from advanced
      where acted.tenant_id = ${tenantId} and acted.session_id = advanced.id
        and acted.risk_score is distinct from advanced.risk_score
    )
    select id, started_ms from advanced
  `.execute(db);
  return new Map(rows.map(({ id, started_ms: startedMs }) => [id, Number(startedMs)]));
}
