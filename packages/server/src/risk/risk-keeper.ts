import { toolCallCategory } from '@actlog/protocol';
import {
  type Arrival,
  emptySession,
  observe,
  parseBaseline,
  parseSession,
  type RiskEvent,
  serializeSession,
} from '@actlog/risk';
import { keepNewest } from '../lib/keep-newest.ts';
import type { ReachedLevels } from '../storage/event-recording.ts';
import { findSession, type SessionSummary } from '../storage/sessions/session-store.ts';
import { eventsArrivedBetween } from '../storage/stores/event-log.ts';
import { judgmentsAbout, type RiskJudgmentRow } from '../storage/stores/judgment-store.ts';
import {
  findBaseline,
  findSessionRisk,
  saveSessionRisks,
  updateListedRisks,
} from '../storage/stores/risk-store.ts';
import { newestToolTagsVersion } from '../storage/stores/tool-tag-store.ts';
import type { Database, Write } from '../storage/transaction.ts';
import type { WebhookOutbox } from '../webhooks/webhook-outbox.ts';
import { addReached, countLevels } from './read-risk.ts';
import { type RiskObserver, storedRiskEvent } from './risk-scoring.ts';
import { type ScorableSession, scoreSession } from './score-session.ts';
import type { SessionPlace } from './shared-risk.ts';
import { StampsByTenant } from './stamps-by-tenant.ts';
import { FrozenTags, type FrozenToolTags } from './tool-tags.ts';

/** Cached risk of a session. */
interface CachedRisk extends ScorableSession {
  readonly tenantId: number;
  readonly baselineText: string | null;
  readonly tags: FrozenToolTags;
  readonly tagsVersion: number | null;
  /** Written tool calls that are not yet observed. */
  readonly unobserved: { readonly event: RiskEvent; readonly stamp: number }[];
}

/** Maximum number of cached sessions. A dropped one is read again, with the events that its stored risk lacks. */
const maxSessions = 2000;

/**
 * Number of tool calls of a session that are observed together. By the time another session's events were handled, this
 * session's state has left the processor's cache, so observing one event costs as much as observing several.
 */
const observationBatch = 16;

/**
 * Maintains the risk of sessions while their events are written. Its cache is ahead of the stored risk only by stored
 * events, so it can be dropped at any time: missing events are observed again, and the result of the engine does not
 * depend on their order.
 */
export class RiskKeeper implements RiskObserver {
  readonly #outbox: WebhookOutbox;
  readonly #tags = new FrozenTags();
  readonly #sessions = new Map<string, CachedRisk>();
  readonly #stamps = new StampsByTenant();
  /** Sessions with observed events whose risk is not yet scored and stored. */
  readonly #unscored = new Map<string, CachedRisk>();
  /** Sessions to be scored that are no longer cached. */
  readonly #behind = new Map<string, SessionPlace>();
  /** Sessions scored in the open transaction. */
  #scored: CachedRisk[] = [];
  /** Sessions that reached a level in it. */
  #reached: ReachedLevels = {};

  constructor(outbox: WebhookOutbox) {
    this.#outbox = outbox;
  }

  /** Number of sessions that still must be scored. */
  get unscored(): number {
    return this.#unscored.size + this.#behind.size;
  }

  /**
   * Drops the cache, as after a rollback or a write of sessions by another way. The sessions that still must be scored
   * are remembered.
   */
  clear(): void {
    for (const cached of [...this.#unscored.values(), ...this.#scored]) {
      const { tenantId, summary } = cached;
      this.#behind.set(keyOf(tenantId, summary.id), { tenant_id: tenantId, id: summary.id });
    }
    this.#stamps.endTransaction(false);
    this.#stamps.invalidate();
    this.#sessions.clear();
    this.#unscored.clear();
    this.#scored = [];
    this.#reached = {};
  }

  /** Must be called after the commit of the open transaction. Returns the sessions that reached a level in it. */
  committed(): ReachedLevels {
    this.#stamps.endTransaction(true);
    this.#scored = [];
    const reached = this.#reached;
    this.#reached = {};
    return reached;
  }

  /** Loads a session. Call it before its new events are written. */
  async load(db: Database, tenantId: number, summary: SessionSummary): Promise<void> {
    const key = keyOf(tenantId, summary.id);
    const inCache = this.#sessions.get(key);
    if (inCache?.summary === summary) {
      this.#keep(key, inCache); // Marks it as the newest, so that other sessions of this write do not evict it.
      return;
    }
    const stored = summary.last_arrival === 0 ? undefined : await findSessionRisk(db, tenantId, summary.id);
    const baselineText = stored ? stored.baseline : await findBaseline(db, tenantId, summary.agent_id);
    const tagsVersion = stored ? stored.tags_version : await newestToolTagsVersion(db, tenantId);
    const tags = await this.#tags.of(db, tenantId, tagsVersion);
    const cached: CachedRisk = {
      tenantId,
      summary,
      state: stored ? parseSession(stored.state) : emptySession(),
      baseline: baselineText === null ? undefined : parseBaseline(baselineText),
      baselineText,
      tags,
      tagsVersion,
      unobserved: [],
    };
    if (summary.risk_arrival < summary.last_arrival) {
      const after = stored ? summary.risk_arrival : 0;
      const missing = await eventsArrivedBetween(db, tenantId, summary.id, after, summary.last_arrival);
      for (const row of missing) observe(cached.state, storedRiskEvent(row), { stamp: row.stamp, tags });
      this.#unscored.set(key, cached);
    }
    this.#behind.delete(key);
    this.#keep(key, cached);
  }

  /** Loads the state of a tenant. Call it before `stamp`. */
  loadTenant(db: Database, tenantId: number): Promise<void> {
    return this.#stamps.load(db, tenantId);
  }

  /** Returns the part of an event's risk context that depends on data outside its session. */
  stamp(tenantId: number, event: RiskEvent, arrival: Arrival): number {
    return this.#stamps.stamp(tenantId, event, arrival);
  }

  revert(db: Database, tenantId: number, repeats: readonly RiskEvent[]): Promise<void> {
    return this.#stamps.revert(db, tenantId, repeats);
  }

  /** Observes an event that was written. Its session must be loaded. */
  observe(tenantId: number, event: RiskEvent, stamp: number): void {
    const key = keyOf(tenantId, event.sessionId);
    const cached = this.#sessions.get(key);
    if (!cached) throw new Error(`The risk of session ${event.sessionId} is not at hand.`);
    cached.unobserved.push({ event, stamp });
    // Waiting tool calls are small; other events have their payload with them.
    const isLarge = event.category !== toolCallCategory;
    if (isLarge || cached.unobserved.length >= observationBatch) observeWaiting(cached);
    this.#unscored.set(key, cached);
  }

  /** Scores up to `limit` unscored sessions, and stores their risk. */
  async scoreSome(write: Write, limit: number): Promise<void> {
    await this.#reload(write.db, [...this.#behind.values()].slice(0, limit));
    await this.#score(write, limit);
  }

  /** Scores the given sessions, whose stored risk lacks events, and all unscored cached ones. */
  async catchUp(write: Write, sessions: readonly SessionPlace[]): Promise<void> {
    await this.#reload(write.db, sessions);
    await this.#score(write, this.#unscored.size);
  }

  /** Loads sessions whose stored risk lacks events. */
  async #reload(db: Database, sessions: readonly SessionPlace[]): Promise<void> {
    for (const { tenant_id: tenantId, id } of sessions) {
      const key = keyOf(tenantId, id);
      this.#behind.delete(key);
      if (this.#unscored.has(key)) continue;
      this.#sessions.delete(key);
      const summary = await findSession(db, tenantId, id);
      if (summary) await this.load(db, tenantId, summary);
    }
  }

  #keep(key: string, cached: CachedRisk): void {
    keepNewest(this.#sessions, key, cached, maxSessions);
  }

  async #score(write: Write, limit: number): Promise<void> {
    const { db } = write;
    const batch: CachedRisk[] = [];
    for (const [key, cached] of this.#unscored) {
      if (batch.length >= limit) break;
      observeWaiting(cached);
      batch.push(cached);
      this.#unscored.delete(key);
    }
    this.#scored.push(...batch);
    await saveSessionRisks(
      db,
      batch.map(({ tenantId, summary, state, baselineText, tagsVersion }) => ({
        tenant_id: tenantId,
        session_id: summary.id,
        state: serializeSession(state),
        baseline: baselineText,
        tags_version: tagsVersion,
      })),
    );
    const former = batch.map(({ summary: { risk_score: score, risk_level: level } }) => ({ score, level }));
    const judgments = await judgmentsByTenant(db, batch);
    const rises = batch.map((cached) => scoreSession(cached, judgments.get(cached.tenantId) ?? []));
    await updateListedRisks(
      db,
      batch.map(({ tenantId, summary }, index) => ({
        tenantId,
        summary,
        scoreChanged: summary.risk_score !== former[index]?.score,
      })),
    );
    const rescored = batch.map(({ tenantId, summary }, index) => ({
      tenantId,
      summary,
      formerLevel: former[index]?.level ?? null,
    }));
    await countLevels(db, rescored);
    addReached(this.#reached, rescored);
    for (const [index, rise] of rises.entries()) {
      if (rise) await this.#outbox.queue(write, (batch[index] as CachedRisk).tenantId, rise);
    }
    await this.#stamps.share(write);
  }
}

/** Returns the judgments that may apply to the sessions, by tenant. */
async function judgmentsByTenant(
  db: Database,
  batch: readonly CachedRisk[],
): Promise<Map<number, RiskJudgmentRow[]>> {
  const found = new Map<number, RiskJudgmentRow[]>();
  for (const [tenantId, cached] of Map.groupBy(batch, (one) => one.tenantId)) {
    const summaries = cached.map(({ summary }) => summary);
    found.set(tenantId, await judgmentsAbout(db, tenantId, summaries));
  }
  return found;
}

function observeWaiting({ state, tags, unobserved }: CachedRisk): void {
  for (const { event, stamp } of unobserved) observe(state, event, { stamp, tags });
  unobserved.length = 0;
}

function keyOf(tenantId: number, sessionId: string): string {
  return `${tenantId} ${sessionId}`;
}
