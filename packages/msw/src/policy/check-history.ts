import {
  AgentTools,
  type CallEnd,
  CallHistory,
  keptArguments,
  mayReadHistory,
  type PolicyHistory,
  WatchedCalls,
} from '@actlog/policy';
import { type PolicyCheck, toolCallCategory } from '@actlog/protocol';
import { readsUntrusted } from '@actlog/risk';
import type { PolicyRecord } from '../tenant/records.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { ruleOf } from './approval-grants.ts';

/** Returns the history of a check's session and agent, as a policy reads it. */
export function historyOf(
  tenant: Tenant,
  { agentId, sessionId, actionId }: PolicyCheck,
  policy: PolicyRecord,
  nowMs: number,
): PolicyHistory {
  return {
    session: sessionId === undefined ? undefined : sessionHistory(tenant, sessionId, nowMs),
    agent: tenant.agentTools.get(agentId) ?? new AgentTools(),
    nowMs,
    actionId,
    policySinceMs: Date.parse(policy.updatedAt),
  };
}

/** `true` if a policy reads calls like the one that is checked. */
export function isWatched(tenant: Tenant, { action: { toolName } }: PolicyCheck): boolean {
  return watchedCall(tenant, toolName) !== undefined;
}

/** Adds a call to the history of its session and its agent. */
export function recordCall(
  tenant: Tenant,
  { agentId, sessionId, actionId, action }: PolicyCheck,
  isAllowed: boolean,
  nowMs: number,
): void {
  const watched = watchedCall(tenant, action.toolName);
  if (!watched) return;
  if (sessionId !== undefined) {
    const history = sessionHistory(tenant, sessionId, nowMs);
    if (isAllowed && watched.isUntrusted) history.addUntrusted(agentId, actionId);
    const call = {
      agentId,
      actionId,
      toolName: action.toolName,
      argumentsHash: action.argumentsHash,
      atMs: nowMs,
      outcome: isAllowed ? ('running' as const) : ('denied' as const),
      endedMs: 0,
      arguments: keptArguments(action.arguments, watched.argumentNames),
    };
    if (watched.inSession) history.add(call, watched.argumentNames);
    tenant.histories.set(sessionId, history);
  }
  if (!isAllowed || !watched.ofAgent) return;
  const agent = tenant.agentTools.get(agentId) ?? new AgentTools();
  agent.add(action.toolName);
  tenant.agentTools.set(agentId, agent);
}

/** Records the time of the first check of a session, when the history of its calls begins. */
export function noteCheck(tenant: Tenant, { sessionId }: PolicyCheck, nowMs: number): void {
  if (sessionId !== undefined && !tenant.firstChecksMs.has(sessionId)) {
    tenant.firstChecksMs.set(sessionId, nowMs);
  }
}

function watchedCall(tenant: Tenant, toolName: string) {
  const readers = [...tenant.policies.values()].filter(
    ({ status, condition }) => status === 'active' && mayReadHistory(condition ?? ''),
  );
  return new WatchedCalls(readers.map(ruleOf)).ofTool(toolName, () => readsUntrusted(toolName));
}

function sessionHistory(tenant: Tenant, sessionId: string, nowMs: number): CallHistory {
  const history = tenant.histories.get(sessionId) ?? new CallHistory(begunMs(tenant, sessionId, nowMs));
  const ends = history.runningIds().flatMap((id): (readonly [string, CallEnd])[] => {
    const event = tenant.events.get(id.toLowerCase());
    if (event?.category !== toolCallCategory || event.sessionId !== sessionId) return [];
    const { toolName, argumentsHash, responseStatus } = event.payload as unknown as CallEnd;
    const receivedMs = Date.parse(event.receivedAt);
    return [[event.eventId, { agentId: event.agentId, toolName, argumentsHash, responseStatus, receivedMs }]];
  });
  history.end(new Map(ends));
  return history;
}

function begunMs(tenant: Tenant, sessionId: string, nowMs: number): number {
  const eventsMs = [...tenant.events.values()]
    .filter((event) => event.sessionId === sessionId)
    .map(({ sourceTimestamp }) => Date.parse(sourceTimestamp));
  return Math.min(nowMs, tenant.firstChecksMs.get(sessionId) ?? nowMs, ...eventsMs);
}
