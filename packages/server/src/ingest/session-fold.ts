import { toolCallCategory } from '@actlog/protocol';
import type { SessionChange, SessionSummary } from '../storage/session-store.ts';
import type { NewEvent } from './new-event.ts';

/** Tools that a session names (reference profile, "Session"). */
const namedTools = 50;

/** Agents that a session names; in one with more, the later ones are still found by the agent's own list. */
const namedAgents = 1000;

/** Folds the events of one write into the summary of one session. */
export class SessionFold implements SessionChange {
  readonly summary: SessionSummary;
  readonly joinedAgentIds: string[] = [];
  startMoved = false;
  /** Whether the session begins with this write. */
  readonly isNew: boolean;
  #hasNewTool = false;
  #nextArrival: number;

  /** `stored` is the summary so far; without it, `first` opens the session. */
  constructor(stored: SessionSummary | undefined, first: NewEvent) {
    this.isNew = stored === undefined;
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
    };
    this.#nextArrival = this.summary.last_arrival;
  }

  get isWidened(): boolean {
    return this.isNew || this.startMoved || this.joinedAgentIds.length > 0 || this.#hasNewTool;
  }

  /** The number of the next event that is about to be written. */
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
      this.startMoved = !this.isNew;
    }
    if (!summary.agentIds.includes(event.agentId)) {
      if (summary.agentIds.length < namedAgents) summary.agentIds.push(event.agentId);
      this.joinedAgentIds.push(event.agentId);
    }
    if (event.category !== toolCallCategory) return;
    const { toolName, responseStatus } = event.payload as { toolName: string; responseStatus: number };
    if (responseStatus >= 400) summary.error_count += 1;
    if (summary.toolNames.length < namedTools && !summary.toolNames.includes(toolName)) {
      summary.toolNames.push(toolName);
      this.#hasNewTool = true;
    }
  }
}
