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
import type { RiskObserver } from '../ingest/event-recorder.ts';
import { keepNewest } from '../keep-newest.ts';
import { eventsArrivedBetween } from '../storage/event-log.ts';
import { findBaseline, findSessionRisk, saveSessionRisks, updateListedRisks } from '../storage/risk-store.ts';
import { findSession, type SessionSummary } from '../storage/session-store.ts';
import { newestToolTagsVersion } from '../storage/tool-tag-store.ts';
import type { Database, Write } from '../storage/transaction.ts';
import type { Outbox } from '../webhooks/outbox.ts';
import { FrozenTags, type FrozenToolTags } from './frozen-tags.ts';
import { type ScorableSession, scoreSession } from './score-session.ts';
import type { SessionPlace } from './shared-risk.ts';
import { StampsByTenant } from './stamps-by-tenant.ts';
import { storedRiskEvent } from './stored-risk-event.ts';

/** The risk of a session at hand. */
interface KnownRisk extends ScorableSession {
  readonly tenantId: number;
  readonly baselineText: string | null;
  readonly tags: FrozenToolTags;
  readonly tagsVersion: number | null;
  /** Tool calls that are written and wait to be observed. */
  readonly unobserved: { readonly event: RiskEvent; readonly stamp: number }[];
}

/** Sessions kept at hand; one that is dropped is read again, with the events that its stored risk lacks. */
const keptSessions = 2000;

/**
 * Tool calls of one session that are observed together. Between the events of other sessions, what the engine keeps
 * of this one has left the processor's cache, and observing one event costs as much as observing several.
 */
const observedTogether = 16;

/**
 * Keeps the risk of sessions while their events are written. What it holds is only ever ahead of the database by
 * events that the database has, so it can be thrown away at any moment: what the stored risk lacks is observed
 * again, and the engine's result does not depend on the order.
 */
export class RiskKeeper implements RiskObserver {
  readonly #outbox: Outbox;
  readonly #tags = new FrozenTags();
  readonly #sessions = new Map<string, KnownRisk>();
  readonly #stamps = new StampsByTenant();
  /** Sessions whose events are observed and whose risk is still to be scored and stored. */
  readonly #unsettled = new Map<string, KnownRisk>();
  /** Sessions that are still to be scored and are not at hand any more. */
  readonly #behind = new Map<string, SessionPlace>();
  /** Sessions that were scored in the transaction that is open. */
  #scored: KnownRisk[] = [];

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  /** Sessions that are still to be scored. */
  get unsettled(): number {
    return this.#unsettled.size + this.#behind.size;
  }

  /**
   * Forgets what it has at hand, as after a rollback or a write that went past it. Which sessions are still to be
   * scored it knows all the same.
   */
  clear(): void {
    for (const known of [...this.#unsettled.values(), ...this.#scored]) {
      const { tenantId, summary } = known;
      this.#behind.set(keyOf(tenantId, summary.id), { tenant_id: tenantId, id: summary.id });
    }
    this.#stamps.endTransaction(false);
    this.#stamps.outdate();
    this.#sessions.clear();
    this.#unsettled.clear();
    this.#scored = [];
  }

  /** Says that the open transaction was committed. */
  committed(): void {
    this.#stamps.endTransaction(true);
    this.#scored = [];
  }

  /** Brings a session to hand. Call it before its new events are written. */
  async load(db: Database, tenantId: number, summary: SessionSummary): Promise<void> {
    const key = keyOf(tenantId, summary.id);
    const kept = this.#sessions.get(key);
    if (kept?.summary === summary) {
      this.#keep(key, kept); // as the youngest: others of this write must not push it out
      return;
    }
    const stored = summary.last_arrival === 0 ? undefined : await findSessionRisk(db, tenantId, summary.id);
    const baselineText = stored ? stored.baseline : await findBaseline(db, tenantId, summary.agent_id);
    const tagsVersion = stored ? stored.tags_version : await newestToolTagsVersion(db, tenantId);
    const tags = await this.#tags.of(db, tenantId, tagsVersion);
    const known: KnownRisk = {
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
      for (const row of missing) observe(known.state, storedRiskEvent(row), { stamp: row.stamp, tags });
      this.#unsettled.set(key, known);
    }
    this.#behind.delete(key);
    this.#keep(key, known);
  }

  /** Brings what is known of the tenant to hand. Call it before `stamp`. */
  loadTenant(db: Database, tenantId: number): Promise<void> {
    return this.#stamps.load(db, tenantId);
  }

  /** What can be seen of an event only by looking beyond its session. */
  stamp(tenantId: number, event: RiskEvent, arrival: Arrival): number {
    return this.#stamps.stamp(tenantId, event, arrival);
  }

  withdraw(db: Database, tenantId: number, repeats: readonly RiskEvent[]): Promise<void> {
    return this.#stamps.withdraw(db, tenantId, repeats);
  }

  /** Takes note of an event that was written. Its session is at hand. */
  observe(tenantId: number, event: RiskEvent, stamp: number): void {
    const key = keyOf(tenantId, event.sessionId);
    const known = this.#sessions.get(key);
    if (!known) throw new Error(`The risk of session ${event.sessionId} is not at hand.`);
    known.unobserved.push({ event, stamp });
    // What waits is small: only other events than tool calls bring their payload along.
    const isLarge = event.category !== toolCallCategory;
    if (isLarge || known.unobserved.length >= observedTogether) observeWaiting(known);
    this.#unsettled.set(key, known);
  }

  /** Scores sessions that are still to be scored, `limit` at most, and stores their risk. */
  async settle(write: Write, limit: number): Promise<void> {
    await this.#bringBack(write.db, [...this.#behind.values()].slice(0, limit));
    await this.#score(write, limit);
  }

  /** Scores sessions whose stored risk lacks events, and all that are at hand. */
  async catchUp(write: Write, sessions: readonly SessionPlace[]): Promise<void> {
    await this.#bringBack(write.db, sessions);
    await this.#score(write, this.#unsettled.size);
  }

  /** Brings sessions to hand whose stored risk lacks events. */
  async #bringBack(db: Database, sessions: readonly SessionPlace[]): Promise<void> {
    for (const { tenant_id: tenantId, id } of sessions) {
      const key = keyOf(tenantId, id);
      this.#behind.delete(key);
      if (this.#unsettled.has(key)) continue;
      this.#sessions.delete(key);
      const summary = await findSession(db, tenantId, id);
      if (summary) await this.load(db, tenantId, summary);
    }
  }

  #keep(key: string, known: KnownRisk): void {
    keepNewest(this.#sessions, key, known, keptSessions);
  }

  async #score(write: Write, limit: number): Promise<void> {
    const { db } = write;
    const settled: KnownRisk[] = [];
    for (const [key, known] of this.#unsettled) {
      if (settled.length >= limit) break;
      observeWaiting(known);
      settled.push(known);
      this.#unsettled.delete(key);
    }
    this.#scored.push(...settled);
    await saveSessionRisks(
      db,
      settled.map(({ tenantId, summary, state, baselineText, tagsVersion }) => ({
        tenant_id: tenantId,
        session_id: summary.id,
        state: serializeSession(state),
        baseline: baselineText,
        tags_version: tagsVersion,
      })),
    );
    const formerScores = settled.map(({ summary }) => summary.risk_score);
    const rises = settled.map(scoreSession);
    await updateListedRisks(
      db,
      settled.map(({ tenantId, summary }, index) => ({
        tenantId,
        summary,
        isMoved: summary.risk_score !== formerScores[index],
      })),
    );
    for (const [index, rise] of rises.entries()) {
      if (rise) await this.#outbox.queue(write, (settled[index] as KnownRisk).tenantId, rise);
    }
    await this.#stamps.share(write);
  }
}

function observeWaiting({ state, tags, unobserved }: KnownRisk): void {
  for (const { event, stamp } of unobserved) observe(state, event, { stamp, tags });
  unobserved.length = 0;
}

function keyOf(tenantId: number, sessionId: string): string {
  return `${tenantId} ${sessionId}`;
}
