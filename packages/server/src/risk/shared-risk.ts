import type { WebhookEvent } from '@actlog/protocol';
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
import { advanceListedRisks } from '../storage/postgres/listed-risks.ts';
import { eventsBehind, findBaselines, findSessionRisks, saveSessionRisks } from '../storage/risk-store.ts';
import { findSessions } from '../storage/session-store.ts';
import { newestToolTagsVersion } from '../storage/tool-tag-store.ts';
import type { Database, Write } from '../storage/transaction.ts';
import type { Outbox } from '../webhooks/outbox.ts';
import { FrozenTags } from './frozen-tags.ts';
import { type ScorableSession, scoreSession } from './score-session.ts';
import { StampsByTenant } from './stamps-by-tenant.ts';
import { storedRiskEvent } from './stored-risk-event.ts';

/** A session of a tenant. */
export interface SessionPlace {
  readonly tenant_id: number;
  readonly id: string;
}

/** A session that is scored, and how far its risk had come before. */
interface ScoredSession extends ScorableSession {
  readonly seenArrival: number;
  readonly baselineText: string | null;
  readonly tagsVersion: number | null;
  readonly rise: WebhookEvent | undefined;
}

/**
 * The risk of sessions that several processes write to. None of them can know a session's state from memory, so
 * scoring reads what is stored and the events that it lacks: a busy session is read once for all the events of about
 * a second. Reading and scoring lock nothing; what was found is stored only if nobody has stored a later state.
 */
export class SharedRisk implements RiskObserver {
  readonly #outbox: Outbox;
  readonly #tags = new FrozenTags();
  readonly #stamps = new StampsByTenant();
  /** Sessions that the open transaction of this process writes to. */
  #written: SessionPlace[] = [];
  /** Sessions that this process wrote to and has not scored since. */
  readonly #unsettled = new Map<string, SessionPlace>();

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  /** Sessions that are still to be scored. */
  get unsettled(): number {
    return this.#unsettled.size;
  }

  /** Takes sessions that wait to be scored; who takes them sees to it. */
  takeUnsettled(limit: number): SessionPlace[] {
    const taken = [...this.#unsettled].slice(0, limit);
    for (const [key] of taken) this.#unsettled.delete(key);
    return taken.map(([, place]) => place);
  }

  /** Has sessions scored later. */
  putBack(places: readonly SessionPlace[]): void {
    for (const place of places) this.#unsettled.set(`${place.tenant_id} ${place.id}`, place);
  }

  /** Says that what was observed is durable, or, without a commit, that it is not. */
  endTransaction(isCommitted: boolean): void {
    this.#stamps.endTransaction(isCommitted);
    if (isCommitted) this.putBack(this.#written);
    this.#written = [];
  }

  loadTenant(db: Database, tenantId: number): Promise<void> {
    return this.#stamps.load(db, tenantId);
  }

  /** Nothing: see `score`. */
  async load(): Promise<void> {}

  stamp(tenantId: number, event: RiskEvent, arrival: Arrival): number {
    return this.#stamps.stamp(tenantId, event, arrival);
  }

  withdraw(db: Database, tenantId: number, repeats: readonly RiskEvent[]): Promise<void> {
    return this.#stamps.withdraw(db, tenantId, repeats);
  }

  observe(tenantId: number, { sessionId }: RiskEvent): void {
    this.#written.push({ tenant_id: tenantId, id: sessionId });
  }

  /** Shares what was seen of a tenant with the other processes. */
  share(write: Write, tenantId: number): Promise<void> {
    return this.#stamps.share(write, [tenantId]);
  }

  /** Scores those of the sessions whose stored risk lacks events, from one state of the data. */
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
    const events = Map.groupBy(await eventsBehind(db, tenantId, ids), (row) => row.session_id);
    const scored: ScoredSession[] = [];
    for (const summary of behind) {
      const kept = stored.get(summary.id);
      const tagsVersion = kept ? kept.tags_version : newestTags;
      const tags = await this.#tags.of(db, tenantId, tagsVersion);
      const baselineText = kept ? kept.baseline : (baselines.get(summary.agent_id) ?? null);
      const state = kept ? parseSession(kept.state) : emptySession();
      for (const row of events.get(summary.id) ?? []) {
        observe(state, storedRiskEvent(row), { stamp: row.stamp, tags });
      }
      const baseline = baselineText === null ? undefined : parseBaseline(baselineText);
      const seenArrival = summary.risk_arrival;
      const rise = scoreSession({ summary, state, baseline });
      scored.push({ summary, state, baseline, baselineText, tagsVersion, seenArrival, rise });
    }
    return scored;
  }

  /** Stores what `score` found. Returns the sessions of which another process has stored the risk meanwhile. */
  async store(write: Write, tenantId: number, scored: readonly ScoredSession[]): Promise<string[]> {
    const won = await advanceListedRisks(
      write.db,
      tenantId,
      scored.map(({ summary, seenArrival }) => ({ summary, seenArrival })),
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
    for (const { rise } of stored) if (rise) await this.#outbox.queue(write, tenantId, rise);
    return scored.flatMap(({ summary: { id } }) => (won.has(id) ? [] : [id]));
  }
}
