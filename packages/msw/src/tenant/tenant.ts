import {
  type AgentTools,
  type ApprovalGrant,
  type ApprovalUse,
  type ArrivalContext,
  type CallHistory,
  type KnownAction,
  type PolicyVersion,
  warningsOf,
  warningView,
} from '@actlog/policy';
import type { ActivityEvent, EventAck } from '@actlog/protocol';
import { emptyTenant, riskEvent, stampEvent } from '@actlog/risk';
import { RateCounts } from '../policy/rate-counts.ts';
import { Cursors } from '../service/cursors.ts';
import { IdempotentResponses } from '../service/idempotent-responses.ts';
import type {
  AgentRecord,
  ChannelRecord,
  EventRecord,
  PendingActionRecord,
  PolicyRecord,
} from './records.ts';
import { sameJson } from './same-json.ts';
import { Session } from './session.ts';
import { Waiting } from './waiting.ts';

/** Data of one tenant. Maps keep the order of creation. */
export class Tenant {
  agents = new Map<string, AgentRecord>();
  events = new Map<string, EventRecord>();
  sessions = new Map<string, Session>();
  policies = new Map<string, PolicyRecord>();
  pendingActions = new Map<string, PendingActionRecord>();
  channels = new Map<string, ChannelRecord>();
  /** Actions by agent and actionId, with the subject that an approval of them is bound to. */
  namedActions = new Map<string, KnownAction & { readonly subject: string }>();
  /** Uses of single-use approvals, by the id of the pending action. */
  approvalUses = new Map<string, ApprovalUse>();
  /** Grants of approvers for later actions, by id. */
  grants = new Map<string, ApprovalGrant>();
  /** Policies that hold an action with their versions, by the id of the pending action. */
  holdingPolicies = new Map<string, readonly PolicyVersion[]>();
  /** Denials that are recorded in sessions, by agent, action and policy. */
  recordedDenials = new Set<string>();
  rateCounts = new RateCounts();
  /** Histories of sessions that conditions of policies read. */
  histories = new Map<string, CallHistory>();
  /** Times of the first checks of sessions, in Unix milliseconds. */
  firstChecksMs = new Map<string, number>();
  /** Tools that agents have used, for conditions of policies. */
  agentTools = new Map<string, AgentTools>();
  cursors = new Cursors();
  responses = new IdempotentResponses();
  readonly waiting = new Waiting();
  #risk = emptyTenant();

  /** Records an event. An event with a known id changes nothing and returns the first acknowledgement. */
  record(sent: ActivityEvent, nowMs: number, protoKeysRemoved = false): EventAck {
    // Upper and lower case of a UUID are the same id.
    const event = { ...sent, eventId: sent.eventId.toLowerCase() };
    const first = this.events.get(event.eventId);
    const known = this.agents.get(event.agentId);
    const context: ArrivalContext = {
      agentRegistered: known?.registered === true,
      agentRevoked: known?.status === 'revoked',
      sessionAgentId: this.sessions.get(event.sessionId)?.agentId ?? event.agentId,
    };
    const sourceMs = Date.parse(event.sourceTimestamp);
    const warnings = warningsOf({ event, sourceMs, receivedMs: nowMs, protoKeysRemoved }, context);
    if (first && !isSame(first, event)) warnings.push('EVENT_ID_REUSED');
    const receivedAt = first?.receivedAt ?? new Date(nowMs).toISOString();
    if (!first) this.#keep({ ...event, receivedAt }, context, nowMs);
    return { eventId: sent.eventId, receivedAt, warnings: warnings.map(warningView) };
  }

  /** Deletes everything and wakes waiting calls. */
  clear(): void {
    const { waiting } = this;
    Object.assign(this, new Tenant(), { waiting });
    this.#risk = emptyTenant();
    waiting.wake();
  }

  #keep(event: EventRecord, { agentRegistered, agentRevoked }: ArrivalContext, nowMs: number): void {
    const seen = riskEvent(event);
    const unrevoked = agentRegistered ? 'active' : 'unregistered';
    const agentStatus = agentRevoked ? 'revoked' : unrevoked;
    const { stamp } = stampEvent(this.#risk, seen, { agentStatus, receivedAtMs: nowMs });
    const session = this.sessions.get(event.sessionId) ?? new Session();
    this.sessions.set(event.sessionId, session);
    this.events.set(event.eventId, event);
    session.add(event, seen, stamp);
    this.#see(event);
  }

  /** Lists an unregistered agent by its events. */
  #see({ agentId, receivedAt }: EventRecord): void {
    const unregistered: AgentRecord = {
      id: agentId,
      name: null,
      description: null,
      framework: null,
      version: null,
      owner: null,
      metadata: {},
      status: 'active',
      registered: false,
      createdAt: receivedAt,
      updatedAt: receivedAt,
      lastSeenAt: receivedAt,
    };
    this.agents.set(agentId, { ...(this.agents.get(agentId) ?? unregistered), lastSeenAt: receivedAt });
  }
}

function isSame({ receivedAt: _, ...first }: EventRecord, event: ActivityEvent): boolean {
  return sameJson(first, event);
}
