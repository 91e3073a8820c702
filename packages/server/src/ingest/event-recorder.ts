import { type Arrival, emptyTenant, type RiskEvent, riskEvent, stampEvent } from '@actlog/risk';
import { type AgentStanding, findAgentStandings, noteAgentsSeen } from '../storage/agent-store.ts';
import { findEvents, insertEvents } from '../storage/event-log.ts';
import { eventRow, isSameEvent } from '../storage/event-row.ts';
import { type SessionSummary, saveSessions } from '../storage/session-store.ts';
import type { Database, Write } from '../storage/transaction.ts';
import { addUsage } from '../storage/usage-store.ts';
import type { EventOutcome, NewEvent, RecordedEvent } from './new-event.ts';
import type { SessionCache } from './session-cache.ts';
import type { SessionFold } from './session-fold.ts';
import { dropUnused, openFolds } from './session-folds.ts';
import { warningsOf } from './warnings.ts';

/** Events of one tenant that share a transaction. */
export interface EventGroup {
  readonly tenantId: number;
  readonly events: readonly NewEvent[];
}

/** What became of the events of each group. */
export interface RecordedGroups {
  readonly outcomes: readonly (readonly EventOutcome[])[];
  /** Whether messages to webhooks were left, which someone has to send. */
  readonly leftMessages: boolean;
  /** Sessions whose risk is still to be scored. */
  readonly unsettled: number;
}

/** What is left after some sessions were scored. */
export type Settled = Omit<RecordedGroups, 'outcomes'>;

/** What watches events go by for the sake of their sessions' risk. */
export interface RiskObserver {
  /** Brings what is known of the tenant to hand. */
  loadTenant(db: Database, tenantId: number): Promise<void>;
  /** Brings a session to hand, before its new events are written. */
  load(db: Database, tenantId: number, summary: SessionSummary): Promise<void>;
  /** What can be seen of an event only by looking beyond its session. */
  stamp(tenantId: number, event: RiskEvent, arrival: Arrival): number;
  /** Takes events back that were stamped and are repeats, which must not change anything. */
  withdraw(db: Database, tenantId: number, repeats: readonly RiskEvent[]): Promise<void>;
  /** Takes note of an event that was written. */
  observe(tenantId: number, event: RiskEvent, stamp: number): void;
}

/** What a recorder keeps at hand between writes. */
export interface RecorderMemory {
  /** Only for who knows of every write to sessions. */
  readonly sessions?: SessionCache;
  readonly risk: RiskObserver;
}

/** Writes events with all that a write keeps: the sessions' summaries, their risk and the agents. */
export class EventRecorder {
  readonly #memory: RecorderMemory | undefined;
  readonly #onWritten: () => void;

  /**
   * Without a memory the risk of the sessions is left behind, to be caught up with by the recorder that has one;
   * `onWritten` tells that one to forget.
   */
  constructor(memory: RecorderMemory | undefined, onWritten: () => void = () => {}) {
    this.#memory = memory;
    this.#onWritten = onWritten;
  }

  /**
   * Writes events of one tenant. One whose id is known changes nothing and is answered as the first one was. `nowMs`
   * says in which month they count.
   */
  async record(
    { db }: Write,
    tenantId: number,
    events: readonly NewEvent[],
    nowMs: number = Date.now(),
  ): Promise<RecordedEvent[]> {
    const folds = await openFolds(db, tenantId, events, this.#memory?.sessions);
    const agents = await findAgentStandings(db, tenantId, [
      ...new Set(events.map(({ event }) => event.agentId)),
    ]);
    const arrivals = events.map(({ event }) => (folds.get(event.sessionId) as SessionFold).takeArrival());
    await this.#loadRisk(db, tenantId, [...folds.values()]);
    const riskEvents = events.map(({ event }) => riskEvent(event));
    const stamps = events.map(({ event, receivedMs }, index) =>
      this.#stamp(tenantId, riskEvents[index] as RiskEvent, agents.get(event.agentId), receivedMs),
    );

    const rows = events.map(({ event, sourceMs, receivedMs }, index) =>
      eventRow(event, {
        tenantId,
        sourceMs,
        arrival: arrivals[index] as number,
        receivedMs,
        stamp: stamps[index] as number,
      }),
    );
    const written = await insertEvents(db, rows);
    // Looking for repeats is only worth its cost when there are some.
    const stored =
      written === rows.length
        ? undefined
        : await findEvents(
            db,
            tenantId,
            rows.map((row) => row.event_id),
          );

    const changed = new Set<SessionFold>();
    const repeats: RiskEvent[] = [];
    const seenMsById = new Map<string, number>();
    const recorded = events.map((incoming, index): RecordedEvent => {
      const { event, receivedMs } = incoming;
      const fold = folds.get(event.sessionId) as SessionFold;
      const agent = agents.get(event.agentId);
      const warnings = warningsOf(incoming, {
        agentRegistered: agent?.registered === 1,
        agentRevoked: agent?.status === 'revoked',
        sessionAgentId: fold.summary.agent_id,
      });
      const first = stored?.get(event.eventId);
      const isRepeat =
        first !== undefined && (first.session_id !== event.sessionId || first.arrival !== arrivals[index]);
      if (isRepeat) {
        if (!isSameEvent(first, event)) warnings.push('EVENT_ID_REUSED');
        repeats.push(riskEvents[index] as RiskEvent);
        return { receivedMs: first.received_ms, warnings, isNew: false };
      }
      fold.add(incoming, arrivals[index] as number);
      this.#memory?.risk.observe(tenantId, riskEvents[index] as RiskEvent, stamps[index] as number);
      changed.add(fold);
      seenMsById.set(event.agentId, receivedMs);
      return { receivedMs, warnings, isNew: true };
    });
    if (repeats.length > 0) await this.#memory?.risk.withdraw(db, tenantId, repeats);
    if (changed.size > 0) {
      await saveSessions(db, tenantId, [...changed]);
      for (const { summary } of changed) this.#memory?.sessions?.put(tenantId, summary);
      await noteAgentsSeen(db, tenantId, seenMsById, agents);
      const usage = {
        events: recorded.filter(({ isNew }) => isNew).length,
        sessions: [...changed].filter(({ isNew }) => isNew).length,
      };
      await addUsage(db, tenantId, usage, nowMs, this.#memory !== undefined);
      this.#onWritten();
    }
    if (changed.size < folds.size) await dropUnused(db, tenantId, [...folds.values()], changed);
    return recorded;
  }

  async #loadRisk(db: Database, tenantId: number, folds: readonly SessionFold[]): Promise<void> {
    if (!this.#memory) return;
    await this.#memory.risk.loadTenant(db, tenantId);
    for (const { summary } of folds) await this.#memory.risk.load(db, tenantId, summary);
  }

  #stamp(tenantId: number, event: RiskEvent, agent: AgentStanding | undefined, receivedAtMs: number): number {
    const known = agent?.registered === 1 ? agent.status : 'unregistered';
    const arrival = { agentStatus: agent?.status === 'revoked' ? 'revoked' : known, receivedAtMs } as const;
    if (this.#memory) return this.#memory.risk.stamp(tenantId, event, arrival);
    return stampEvent(emptyTenant(), event, arrival).stamp;
  }
}
