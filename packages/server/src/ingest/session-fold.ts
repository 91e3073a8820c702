import { decisionCategory, toolCallCategory } from '@actlog/protocol';
import { keepNewest } from '../lib/keep-newest.ts';
import type { CountedSession } from '../storage/activity/activity-change.ts';
import type { NewEvent } from '../storage/event-recording.ts';
import type { SessionChange, SessionSummary } from '../storage/sessions/session-store.ts';

/** Maximum tools listed per session (reference profile, "Session"). Further tools still find the session. */
const maxListedTools = 50;

/** Maximum agents listed per session. Further agents still find the session in their own list. */
const maxListedAgents = 1000;

/** Folds the events of one write into the summary of one session. */
export class SessionFold implements SessionChange {
  readonly summary: SessionSummary;
  readonly joinedAgentIds: string[] = [];
  readonly newToolNames: string[] = [];
  startChanged = false;
  /** `true` if the session is created by this write. */
  readonly isNew: boolean;
  /** The session as it was counted before this write; `undefined` for a new one. */
  readonly counted: CountedSession | undefined;
  #hasNewFlag = false;
  #nextArrival: number;

  /** @param stored - the summary so far; without it, the session starts with `first` */
  constructor(stored: SessionSummary | undefined, first: NewEvent) {
    this.isNew = stored === undefined;
    this.counted = stored && { startedMs: stored.started_ms, level: stored.risk_level };
    const { sourceMs } = first;
    this.summary = stored ?? {
      id: first.event.sessionId,
      agent_id: first.event.agentId,
      agentIds: [],
      started_ms: sourceMs,
      last_event_ms: sourceMs,
      event_count: 0,
      error_count: 0,
      last_arrival: 0,
      toolNames: [],
      risk_score: null,
      risk_level: null,
      risk_arrival: 0,
      risk_learned: 0,
      received_ms: first.receivedMs,
      has_errors: 0,
      has_denials: 0,
      has_holds: 0,
    };
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

/** Maximum number of cached sessions. */
const maxSessions = 4096;

/**
 * Cache of the summaries of recently written sessions, so that the next event of a session needs no read. Its user must
 * know of every other write to sessions, and clear the cache after it.
 */
export class SessionCache {
  readonly #summaries = new Map<string, SessionSummary>();

  /** Returns the summary that was last put, or `undefined` if it is not cached. */
  get(tenantId: number, id: string): SessionSummary | undefined {
    return this.#summaries.get(`${tenantId} ${id}`);
  }

  /** Caches a summary that is about to be committed. After a failed commit the cache must be cleared. */
  put(tenantId: number, summary: SessionSummary): void {
    keepNewest(this.#summaries, `${tenantId} ${summary.id}`, summary, maxSessions);
  }

  clear(): void {
    this.#summaries.clear();
  }
}
