import type { ActivityEvent, EventAck } from '@actlog/protocol';
import { emptyTenant, riskEvent, stampEvent } from '@actlog/risk';
import type { NamedAction } from '../policy/named-action.ts';
import { RateCounts } from '../policy/rate-counts.ts';
import { Cursors } from '../service/cursors.ts';
import { IdempotentAnswers } from '../service/idempotent-answers.ts';
import { type Surroundings, warningsOf } from './event-warnings.ts';
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

/** What one tenant has. Maps keep the order in which things came. */
export class Tenant {
  agents = new Map<string, AgentRecord>();
  events = new Map<string, EventRecord>();
  sessions = new Map<string, Session>();
  policies = new Map<string, PolicyRecord>();
  pendingActions = new Map<string, PendingActionRecord>();
  channels = new Map<string, ChannelRecord>();
  /** Actions by their agent and their actionId. */
  namedActions = new Map<string, NamedAction>();
  /** Denials that their sessions tell of, by agent, action and policy. */
  toldDenials = new Set<string>();
  rateCounts = new RateCounts();
  cursors = new Cursors();
  answers = new IdempotentAnswers();
  readonly waiting = new Waiting();
  #risk = emptyTenant();

  /** Takes an event. One whose id is known changes nothing, and is answered as the first one was. */
  record(event: ActivityEvent, nowMs: number, protoKeysRemoved = false): EventAck {
    const first = this.events.get(event.eventId);
    const known = this.agents.get(event.agentId);
    const unrevoked = known?.registered ? 'active' : 'unregistered';
    const around: Surroundings = {
      agent: known?.status === 'revoked' ? 'revoked' : unrevoked,
      isRegistered: known?.registered === true,
      sessionAgentId: this.sessions.get(event.sessionId)?.agentId ?? event.agentId,
      receivedMs: nowMs,
      protoKeysRemoved,
      isIdReused: first !== undefined && !isSame(first, event),
    };
    const warnings = warningsOf(event, around);
    const receivedAt = first?.receivedAt ?? new Date(nowMs).toISOString();
    if (!first) this.#keep({ ...event, receivedAt }, around);
    return { eventId: event.eventId, receivedAt, warnings };
  }

  /** Forgets everything, and lets go who waits. */
  clear(): void {
    const { waiting } = this;
    Object.assign(this, new Tenant(), { waiting });
    this.#risk = emptyTenant();
    waiting.wake();
  }

  #keep(event: EventRecord, { agent, receivedMs }: Surroundings): void {
    const seen = riskEvent(event);
    const { stamp } = stampEvent(this.#risk, seen, { agentStatus: agent, receivedAtMs: receivedMs });
    const session = this.sessions.get(event.sessionId) ?? new Session();
    this.sessions.set(event.sessionId, session);
    this.events.set(event.eventId, event);
    session.add(event, seen, stamp);
    this.#see(event);
  }

  /** An agent that nobody registered is listed by its events. */
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
