import { warningsOf } from '@actlog/policy';
import { decisionCategory, toolCallCategory } from '@actlog/protocol';
import { emptyTenant, type RiskEvent, riskEvent, stampEvent } from '@actlog/risk';
import type { Selectable } from 'kysely';
import type { RiskObserver } from '../risk/risk-scoring.ts';
import type { NewEvent, RecordedEvent } from '../storage/event-recording.ts';
import type { EventTable } from '../storage/schema.ts';
import {
  dropEmptySessions,
  lockSessions,
  newSession,
  openSessions,
  type SessionChange,
  type SessionSummary,
  saveSessions,
} from '../storage/sessions/session-store.ts';
import {
  ActivityChange,
  ActivityNames,
  addActivity,
  type CountedSession,
} from '../storage/stores/activity-change.ts';
import { type AgentState, findAgentStates, recordAgentsSeen } from '../storage/stores/agent-store.ts';
import {
  callOutcome,
  droppedArrivals,
  eventRow,
  findEvents,
  insertEvents,
  isSameEvent,
} from '../storage/stores/event-log.ts';
import { addUsage } from '../storage/stores/quota-store.ts';
import { type Database, isPostgres, type Write } from '../storage/transaction.ts';

/** Cache of the summaries of sessions. */
interface SummaryCache {
  /** Returns the summary that was last put, or `undefined` if it is not cached. */
  get(tenantId: number, id: string): SessionSummary | undefined;
  /** Caches a summary that is about to be committed. */
  put(tenantId: number, summary: SessionSummary): void;
}

/** State that a writer caches between writes. */
export interface WriterMemory {
  /** Only for a writer that knows of every write to sessions. */
  readonly sessions?: SummaryCache;
  /** Receives each new event, for its entry in the log. */
  readonly recent?: { add(row: Selectable<EventTable>): void };
  readonly risk: RiskObserver;
  /** `false` if a history finds events by agent, tool and hash. */
  readonly isIndexed: boolean;
}

/** Writes events with all dependent data: the sessions' summaries, their risk and the agents. */
export class EventWriter {
  readonly #memory: WriterMemory | undefined;
  readonly #onWritten: () => void;
  readonly #names = new ActivityNames();

  /**
   * Without a memory, events stay unscored until a writer with a memory catches up. `onWritten` tells that writer
   * to drop its caches.
   */
  constructor(memory: WriterMemory | undefined, onWritten: () => void = () => {}) {
    this.#memory = memory;
    this.#onWritten = onWritten;
  }

  /**
   * Writes events of one tenant. An event with a known id changes nothing and has the outcome of the first.
   *
   * @param nowMs - determines the month in which the events count
   * @param knownAgents - agents of the events that exist, if they were read in this transaction
   */
  async write(
    { db }: Write,
    tenantId: number,
    events: readonly NewEvent[],
    nowMs: number = Date.now(),
    knownAgents?: ReadonlyMap<string, AgentState>,
  ): Promise<RecordedEvent[]> {
    const folds = await openFolds(db, tenantId, events, this.#memory?.sessions);
    const agentIds = new Set(events.map(({ event }) => event.agentId));
    const agents = knownAgents ?? (await findAgentStates(db, tenantId, [...agentIds]));
    const arrivals = events.map(({ event }) => (folds.get(event.sessionId) as SessionFold).takeArrival());
    await this.#loadRisk(db, tenantId, [...folds.values()]);
    const riskEvents = events.map(({ event }) => riskEvent(event));
    const stamps = events.map(({ event, receivedMs }, index) =>
      this.#stamp(tenantId, riskEvents[index] as RiskEvent, agents.get(event.agentId), receivedMs),
    );
    const rows = events.map(({ event, sourceMs, receivedMs, identity = null, traceparent = null }, index) =>
      eventRow(event, {
        tenantId,
        sourceMs,
        arrival: arrivals[index] as number,
        receivedMs,
        stamp: stamps[index] as number,
        identity,
        traceparent,
        isIndexed: this.#memory?.isIndexed ?? true,
      }),
    );
    const written = await insertEvents(db, rows);
    // Reading stored events is worth its cost only if there are repeats.
    const stored =
      written === rows.length
        ? undefined
        : await findEvents(
            db,
            tenantId,
            rows.map((row) => row.event_id),
            { withDropped: true },
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
      this.#memory?.recent?.add(rows[index] as Selectable<EventTable>);
      this.#memory?.risk.observe(tenantId, riskEvents[index] as RiskEvent, stamps[index] as number);
      changed.add(fold);
      seenMsById.set(event.agentId, receivedMs);
      return { receivedMs, warnings, isNew: true };
    });
    if (repeats.length > 0) await this.#memory?.risk.revert(db, tenantId, repeats);
    if (changed.size > 0) {
      await saveSessions(db, tenantId, [...changed]);
      for (const { summary } of changed) this.#memory?.sessions?.put(tenantId, summary);
      const usage = {
        events: recorded.filter(({ isNew }) => isNew).length,
        sessions: [...changed].filter(({ isNew }) => isNew).length,
        agents: await recordAgentsSeen(db, tenantId, seenMsById, agents),
      };
      await addUsage(db, tenantId, usage, nowMs, this.#memory !== undefined);
      const activity = recordedActivity(
        events.filter((_, index) => recorded[index]?.isNew),
        changed,
      );
      await addActivity(db, tenantId, activity, this.#memory ? 'events' : 'requests', nowMs, this.#names);
      this.#onWritten();
    }
    if (changed.size < folds.size) await dropUnusedSessions(db, tenantId, [...folds.values()], changed);
    return recorded;
  }

  async #loadRisk(db: Database, tenantId: number, folds: readonly SessionFold[]): Promise<void> {
    if (!this.#memory) return;
    await this.#memory.risk.loadTenant(db, tenantId);
    for (const { summary } of folds) await this.#memory.risk.load(db, tenantId, summary);
  }

  #stamp(tenantId: number, event: RiskEvent, agent: AgentState | undefined, receivedAtMs: number): number {
    const agentStatus = agent?.registered === 1 ? agent.status : 'unregistered';
    const arrival = {
      agentStatus: agent?.status === 'revoked' ? 'revoked' : agentStatus,
      receivedAtMs,
    } as const;
    if (this.#memory) return this.#memory.risk.stamp(tenantId, event, arrival);
    return stampEvent(emptyTenant(), event, arrival).stamp;
  }
}

/**
 * Returns the counts of events that were written, and of the sessions that they started or moved. The decisions that
 * the service itself records in a session are not counted as events.
 *
 * An event counts at its own time, as in lists, but not after its receipt: the clock of its sender may be ahead.
 */
function recordedActivity(events: readonly NewEvent[], sessions: Iterable<SessionFold>): ActivityChange {
  const change = new ActivityChange();
  for (const { event, sourceMs, receivedMs } of events) {
    if (event.category === decisionCategory) continue;
    const timeMs = Math.min(sourceMs, receivedMs);
    if (event.category !== toolCallCategory) {
      change.addEvent(timeMs);
      continue;
    }
    const { toolName, responseStatus } = event.payload as { toolName: string; responseStatus: number };
    change.addCall(timeMs, { agentId: event.agentId, toolName, outcome: callOutcome(responseStatus) });
  }
  for (const { counted, summary } of sessions) {
    change.moveSession(counted, { startedMs: summary.started_ms, level: summary.risk_level });
  }
  return change;
}

/**
 * Returns a fold for each session of the events. Other transactions cannot write these sessions until this one ends.
 */
async function openFolds(
  db: Database,
  tenantId: number,
  events: readonly NewEvent[],
  cache: SummaryCache | undefined,
): Promise<Map<string, SessionFold>> {
  const firsts = new Map<string, NewEvent>();
  for (const incoming of events) {
    if (!firsts.has(incoming.event.sessionId)) firsts.set(incoming.event.sessionId, incoming);
  }
  const stored = isPostgres(db)
    ? await openSessions(
        db,
        tenantId,
        [...firsts.values()].map((first) => newSession(first)),
      )
    : await storedSessions(db, tenantId, [...firsts.keys()], cache);
  const newIds = [...firsts.keys()].filter((id) => !stored.has(id));
  const dropped = await droppedArrivals(db, tenantId, newIds);
  return new Map(
    [...firsts].map(([id, first]) => [id, new SessionFold(stored.get(id), first, dropped.get(id))]),
  );
}

/** Deletes sessions that were inserted for events that turned out to be repeats from other sessions. */
async function dropUnusedSessions(
  db: Database,
  tenantId: number,
  folds: readonly SessionFold[],
  used: ReadonlySet<SessionFold>,
): Promise<void> {
  if (!isPostgres(db)) return;
  const unused = folds.filter((fold) => fold.isNew && !used.has(fold)).map(({ summary }) => summary.id);
  if (unused.length > 0) await dropEmptySessions(db, tenantId, unused);
}

async function storedSessions(
  db: Database,
  tenantId: number,
  ids: readonly string[],
  cache: SummaryCache | undefined,
): Promise<Map<string, SessionSummary>> {
  const found = new Map<string, SessionSummary>();
  const missing: string[] = [];
  for (const id of ids) {
    const cached = cache?.get(tenantId, id);
    if (cached) found.set(id, cached);
    else missing.push(id);
  }
  if (missing.length === 0) return found;
  return new Map([...found, ...(await lockSessions(db, tenantId, missing))]);
}

/** Maximum tools listed per session (reference profile, "Session"). Further tools still find the session. */
const maxListedTools = 50;

/** Maximum agents listed per session. Further agents still find the session in their lists. */
const maxListedAgents = 1000;

/** Folds the events of one write into the summary of one session. */
class SessionFold implements SessionChange {
  readonly summary: SessionSummary;
  readonly joinedAgentIds: string[] = [];
  readonly newToolNames: string[] = [];
  startChanged = false;
  readonly startArrival: number;
  /** `true` if the session is created by this write. */
  readonly isNew: boolean;
  /** The session as it was counted before this write; `undefined` for a new one. */
  readonly counted: CountedSession | undefined;
  #hasNewFlag = false;
  #nextArrival: number;

  /**
   * @param stored - the summary so far; without it, the session starts with `first`
   * @param afterArrival - arrival after which a new session starts. Default: 0
   */
  constructor(stored: SessionSummary | undefined, first: NewEvent, afterArrival = 0) {
    this.isNew = stored === undefined;
    this.counted = stored && { startedMs: stored.started_ms, level: stored.risk_level };
    this.summary = stored ?? newSession(first, afterArrival);
    this.startArrival = afterArrival;
    this.#nextArrival = this.summary.last_arrival;
  }

  get isWidened(): boolean {
    return (
      this.isNew ||
      this.startChanged ||
      this.joinedAgentIds.length > 0 ||
      this.newToolNames.length > 0 ||
      this.#hasNewFlag
    );
  }

  /** Returns the arrival number of the next event to write. */
  takeArrival(): number {
    this.#nextArrival += 1;
    return this.#nextArrival;
  }

  /** Counts an event that was written. */
  add({ event, sourceMs, receivedMs }: NewEvent, arrival: number): void {
    const { summary } = this;
    summary.event_count += 1;
    summary.last_arrival = Math.max(summary.last_arrival, arrival);
    summary.received_ms = Math.max(summary.received_ms, receivedMs);
    summary.last_event_ms = Math.max(summary.last_event_ms, sourceMs);
    if (sourceMs < summary.started_ms) {
      summary.started_ms = sourceMs;
      this.startChanged = !this.isNew;
    }
    if (!summary.agentIds.includes(event.agentId)) {
      if (summary.agentIds.length < maxListedAgents) summary.agentIds.push(event.agentId);
      this.joinedAgentIds.push(event.agentId);
    }
    if (event.category === decisionCategory) {
      this.#addDecision((event.payload as { decision?: unknown }).decision);
    }
    if (event.category !== toolCallCategory) return;
    const { toolName, responseStatus } = event.payload as { toolName: string; responseStatus: number };
    if (responseStatus >= 400) {
      summary.error_count += 1;
      this.#set('has_errors');
    }
    if (!summary.toolNames.includes(toolName)) {
      if (summary.toolNames.length < maxListedTools) summary.toolNames.push(toolName);
      this.newToolNames.push(toolName);
    }
  }

  #addDecision(decision: unknown): void {
    if (decision === 'require_approval') this.#set('has_holds');
    if (decision === 'deny' || decision === 'denied') this.#set('has_denials');
  }

  #set(flag: 'has_errors' | 'has_denials' | 'has_holds'): void {
    if (this.summary[flag] === 1) return;
    this.summary[flag] = 1;
    this.#hasNewFlag = true;
  }
}
