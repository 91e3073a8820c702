import type { CallerIdentity, MatchedPolicy, PolicyDecision, PolicyEffect } from '@actlog/protocol';
import { type CallEnd, CallHistory } from '../history/call-history.ts';
import { AgentTools } from '../history/folded-calls.ts';
import type { HistoryFacts } from '../history/history-view.ts';
import { keptArguments } from '../history/stored-call.ts';
import { WatchedCalls } from '../history/watched-calls.ts';
import type { HistoryReads } from '../match/history-reads.ts';
import type { PolicyRule } from '../match/match-policy.ts';

interface PastSession {
  readonly history: CallHistory;
  /** Events of running calls that arrive later, by `actionId` in lower case. */
  readonly ends: Map<string, CallEnd>;
  /** `true` if it is not known how a call ended. */
  hasUnknownEnd: boolean;
}

/** Histories of sessions and agents in the course of a backtest, as the draft would have made them. */
export class HistoryReplay {
  readonly #watched: WatchedCalls;
  readonly #readsUntrusted: (toolName: string) => boolean;
  readonly #sessions = new Map<string, PastSession>();
  readonly #agents = new Map<string, AgentTools>();
  /** Held calls that were decided later than the calls so far, in order of that time. */
  readonly #waiting: {
    readonly past: PastDecision;
    readonly decision: PolicyEffect;
    readonly atMs: number;
  }[] = [];

  constructor(rules: readonly PolicyRule[], readsUntrusted: (toolName: string) => boolean) {
    this.#watched = new WatchedCalls(rules);
    this.#readsUntrusted = readsUntrusted;
  }

  /** Returns the history at the time of a decision. */
  factsAt(past: PastDecision): HistoryFacts {
    const nowMs = Date.parse(past.decidedAt);
    while ((this.#waiting[0]?.atMs ?? Number.POSITIVE_INFINITY) <= nowMs) {
      const ended = this.#waiting.shift();
      if (ended) this.#record(ended.past, ended.decision, ended.atMs);
    }
    return {
      session: past.sessionId === null ? undefined : this.#at(past.sessionId, nowMs).history,
      agent: this.#agents.get(past.agentId) ?? new AgentTools(),
      nowMs,
      actionId: past.actionId ?? undefined,
    };
  }

  /** `true` if a condition depends on how earlier calls ended, and that is not known. */
  isUnknown(past: PastDecision, reads: HistoryReads | undefined): boolean {
    if (!reads?.readsOutcomes || past.sessionId === null) return false;
    return this.#sessions.get(past.sessionId)?.hasUnknownEnd === true;
  }

  /** Adds a call that the draft allows or denies; a held one counts as its approver decided, and from then on. */
  record(past: PastDecision, verdict: PolicyEffect): void {
    const isHeld = verdict === 'require_approval';
    const decision = isHeld ? (past.decision ?? verdict) : verdict;
    if (past.dryRun || decision === 'require_approval') return;
    const checkedMs = Date.parse(past.decidedAt);
    const atMs = isHeld && past.endedAt != null ? Date.parse(past.endedAt) : checkedMs;
    if (atMs > checkedMs) {
      const place = this.#waiting.findLastIndex((earlier) => earlier.atMs <= atMs) + 1;
      this.#waiting.splice(place, 0, { past, decision, atMs });
    } else {
      this.#record(past, decision, checkedMs);
    }
  }

  #record(past: PastDecision, decision: PolicyEffect, atMs: number): void {
    const { agentId, toolName, argumentsHash, sessionId } = past;
    const watched = this.#watched.ofTool(toolName, () => this.#readsUntrusted(toolName));
    if (!watched) return;
    const isAllowed = decision === 'allow';
    const actionId = past.actionId ?? undefined;
    if (sessionId !== null) {
      const session = this.#at(sessionId, atMs);
      if (isAllowed && watched.isUntrusted) session.history.addUntrusted(agentId, actionId);
      if (watched.inSession) {
        const { argumentNames } = watched;
        const outcome = isAllowed ? 'running' : 'denied';
        const kept = keptArguments(past.arguments ?? undefined, argumentNames);
        const call = { agentId, actionId, toolName, argumentsHash, atMs, outcome, endedMs: 0 } as const;
        session.history.add({ ...call, arguments: kept }, argumentNames);
        if (isAllowed && past.ended === undefined) session.hasUnknownEnd = true;
        if (actionId !== undefined && past.ended) session.ends.set(actionId.toLowerCase(), past.ended);
      }
    }
    if (!isAllowed || !watched.ofAgent) return;
    const agent = this.#agents.get(agentId) ?? new AgentTools();
    agent.add(toolName);
    this.#agents.set(agentId, agent);
  }

  /** Returns a session with the events that had arrived. */
  #at(sessionId: string, nowMs: number): PastSession {
    let session = this.#sessions.get(sessionId);
    if (!session) {
      session = { history: new CallHistory(0), ends: new Map(), hasUnknownEnd: false };
      this.#sessions.set(sessionId, session);
    }
    const arrived = [...session.ends].filter(([, { receivedMs }]) => receivedMs <= nowMs);
    if (arrived.length > 0) session.history.end(new Map(arrived));
    for (const [actionId] of arrived) session.ends.delete(actionId);
    return session;
  }
}

/** A policy that matched an action when it was checked. */
export type PastMatch = Pick<MatchedPolicy, 'policyId' | 'effect' | 'mode'>;

/** A kept decision, as a backtest reads it. */
export interface PastDecision
  extends Omit<
    PolicyDecision,
    | 'decision'
    | 'decidedBy'
    | 'matched'
    | 'pendingActionId'
    | 'heldStatus'
    | 'endedAt'
    | 'subagent'
    | 'parentAgentIds'
    | 'identity'
    | 'traceparent'
    | 'grantId'
    | 'executedHash'
    | 'durationMs'
  > {
  /** Matched policies in order of precedence. */
  readonly matched: readonly PastMatch[];
  /** Decision that the agent got, after an approver decided; omitted if it is not known. */
  readonly decision?: PolicyEffect | undefined;
  /** Name of the subagent that acted; null or omitted for none. */
  readonly subagent?: string | null | undefined;
  /** Agents around the agent, nearest first; omitted for none. */
  readonly parentAgentIds?: readonly string[] | undefined;
  /** Verified identity of the caller; null or omitted for none. */
  readonly identity?: CallerIdentity | null | undefined;
  /** Time at which a held action ended; null or omitted for one that waits, and for one that was not held. */
  readonly endedAt?: string | null | undefined;
  /** End of the call by its event; null without an event, and omitted if it is not known. */
  readonly ended?: CallEnd | null | undefined;
}

/** Returns what the policies decided then, before an approver did: the effect of the first enforced one. */
export function pastVerdict({ matched }: PastDecision): PolicyEffect {
  return matched.find(({ mode }) => mode === 'enforce')?.effect ?? 'allow';
}
