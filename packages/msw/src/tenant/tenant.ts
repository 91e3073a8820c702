import {
  type AgentTools,
  type ApprovalGrant,
  type ApprovalUse,
  type ArrivalContext,
  type CallHistory,
  type KnownAction,
  type PolicyVersion,
  type RateWindow,
  warningsOf,
  warningView,
  windowKey,
} from '@actlog/policy';
import type { ActivityEvent, EventAck } from '@actlog/protocol';
import { emptyTenant, riskEvent, stampEvent } from '@actlog/risk';
import { ApiError, invalid } from '../service/api-error.ts';
import { Cursors } from '../service/page.ts';
import type {
  AgentRecord,
  ChannelRecord,
  EventRecord,
  PendingActionRecord,
  PolicyRecord,
} from './records.ts';
import { Session } from './session.ts';

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

/** `true` if two JSON values are equal, ignoring the order of members. Bodies are limited in depth. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) {
    return left === right; // JSON does not distinguish 0 and -0
  }
  const names = Object.keys(left);
  return (
    Array.isArray(left) === Array.isArray(right) &&
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && sameJson(memberOf(left, name), memberOf(right, name)))
  );
}

function memberOf(object: object, name: string): unknown {
  return (object as Record<string, unknown>)[name];
}

/** Callers that wait for a decision. */
class Waiting {
  readonly #wakes = new Set<() => void>();

  /** Resolves when all waiters are woken, or when `signal` aborts. A woken waiter checks again. */
  wait(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        signal.removeEventListener('abort', wake);
        this.#wakes.delete(wake);
        resolve();
      };
      signal.addEventListener('abort', wake);
      this.#wakes.add(wake);
    });
  }

  /** Wakes all waiters. */
  wake(): void {
    for (const wake of [...this.#wakes]) wake();
  }
}

/** Counts of actions for the rates of policies, in slices of time as on the reference server. */
class RateCounts {
  /** Numbers of actions by the start of their slice, for each counted subject. */
  readonly #slices = new Map<string, Map<number, number>>();

  /** Returns the number of actions in each window, by key. */
  countedIn(windows: readonly RateWindow[]): ReadonlyMap<string, number> {
    return new Map(
      windows.map((window) => {
        const { sinceMs, untilMs } = window;
        const slices = [...(this.#slices.get(windowKey(window)) ?? [])];
        const counted = slices.filter(([sliceMs]) => sliceMs > sinceMs && sliceMs <= untilMs);
        return [windowKey(window), counted.reduce((sum, [, actions]) => sum + actions, 0)];
      }),
    );
  }

  /** Counts one action in each window. */
  count(windows: readonly RateWindow[]): void {
    for (const window of windows) {
      const slices = this.#slices.get(windowKey(window)) ?? new Map<number, number>();
      slices.set(window.sliceMs, (slices.get(window.sliceMs) ?? 0) + 1);
      this.#slices.set(windowKey(window), slices);
    }
  }
}

/** Time for which a response is kept for repeats, in milliseconds (reference profile). */
const keptForMs = 24 * 3_600_000;

interface Kept {
  readonly request: string;
  readonly response: Promise<unknown>;
  readonly untilMs: number;
}

/** Responses by `Idempotency-Key` of a tenant. */
class IdempotentResponses {
  readonly #kept = new Map<string, Kept>();

  /**
   * Returns the first response for a key, or calls `make`, whose response is kept unless it fails.
   *
   * @throws ApiError `IDEMPOTENCY_KEY_REUSED` if the first request was different.
   */
  async once(endpoint: string, key: string, request: string, make: () => Promise<unknown>): Promise<unknown> {
    if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
      throw invalid('idempotency-key', 'invalid_format', 'must have 1 to 255 visible ASCII characters');
    }
    const name = `${endpoint} ${key}`;
    const kept = this.#kept.get(name);
    if (kept && kept.untilMs > Date.now()) {
      if (kept.request === request) return kept.response;
      throw new ApiError(
        'IDEMPOTENCY_KEY_REUSED',
        'This Idempotency-Key was used for another request; use a new key for each request.',
      );
    }
    const response = make();
    this.#kept.set(name, { request, response, untilMs: Date.now() + keptForMs });
    response.catch(() => this.#kept.delete(name));
    return response;
  }
}
