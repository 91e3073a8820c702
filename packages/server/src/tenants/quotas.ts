import { ApiError } from '../lib/api-error.ts';
import { keepNewest } from '../lib/keep-newest.ts';
import type { NewEvent } from '../storage/event-recording.ts';
import { lockNames } from '../storage/locks.ts';
import { findSessions } from '../storage/sessions/session-store.ts';
import { type AgentState, findAgentStates } from '../storage/stores/agent-store.ts';
import { findEvents } from '../storage/stores/event-log.ts';
import {
  type CountedQuota,
  type DeploymentQuotas,
  type ExceededQuota,
  leftOf,
  nextMonthOf,
  type Room,
  readQuotas,
  readRoom,
} from '../storage/stores/quota-store.ts';
import { type QuotaName, quotaDefinition } from '../storage/stores/quota-table.ts';
import { type Database, isPostgres } from '../storage/transaction.ts';

/**
 * Room beyond which processes count without waiting for each other: 256 processes can store a group of 512 events each
 * at the same time without exceeding it.
 */
const ampleRoom = 256 * 512;

const quotaLock = 'quota';

/** Name of the lock for transactions that may add an agent, so that the quota is exact. */
export const agentsLock = 'quota agents';

/** Maximum number of tenants whose room is remembered. */
const maxTenants = 10_000;

/** Quotas that processes share within {@link ampleRoom}. New agents are rare and have another lock. */
const sharedQuotas = [
  'eventsPerMonth',
  'checksPerMonth',
  'sessions',
] as const satisfies readonly CountedQuota[];

/** Result of admitting events. */
export interface Admission {
  /** For each event the exceeded quota, or `undefined` if it may be stored. `undefined` if all may. */
  readonly refusals: readonly (ExceededQuota | undefined)[] | undefined;
  /** Existing agents of the events, by id. */
  readonly agents: ReadonlyMap<string, AgentState>;
}

/** A check that is recorded. */
interface RecordedCheck {
  readonly agentId: string;
  /** Session in which a decision is recorded; `undefined` for none. */
  readonly sessionId?: string | undefined;
}

/**
 * Enforces the quotas of tenants exactly, across all processes. Near a quota, the commits of a tenant are serialized.
 * Call its methods before any row is locked.
 */
export class QuotaGate {
  readonly #deployment: DeploymentQuotas;
  /** Tenants with ample room when last read, for which the next query acquires the lock at the same time. */
  readonly #ample = new Map<number, boolean>();

  constructor(deployment: DeploymentQuotas) {
    this.#deployment = deployment;
  }

  /** Admits events, or returns the exceeded quotas. An event that is already stored needs no room. */
  async admit(
    db: Database,
    tenantId: number,
    events: readonly NewEvent[],
    nowMs: number,
  ): Promise<Admission> {
    const agentIds = [...new Set(events.map(({ event }) => event.agentId))];
    const { agents, room } = await this.#roomFor(db, tenantId, agentIds, nowMs);
    const left = {
      events: leftOf(room, 'eventsPerMonth'),
      sessions: leftOf(room, 'sessions'),
      agents: leftOf(room, 'agents'),
    };
    const newAgents = agentIds.length - agents.size;
    if (Math.min(left.events, left.sessions) >= events.length && left.agents >= newAgents) {
      return { refusals: undefined, agents };
    }
    const eventIds = events.map(({ event }) => event.eventId);
    const storedIds = new Set((await findEvents(db, tenantId, eventIds)).keys());
    const sessionIds = [...new Set(events.map(({ event }) => event.sessionId))];
    const open = new Set((await findSessions(db, tenantId, sessionIds)).keys());
    const present = new Set(agents.keys());
    const refusals = events.map(({ event: { eventId, sessionId, agentId } }) => {
      if (storedIds.has(eventId)) return undefined;
      if (left.events <= 0) return exceeded(room, 'eventsPerMonth');
      if (!open.has(sessionId) && left.sessions <= 0) return exceeded(room, 'sessions');
      if (!present.has(agentId) && left.agents <= 0) return exceeded(room, 'agents');
      if (!open.has(sessionId)) left.sessions -= 1;
      if (!present.has(agentId)) left.agents -= 1;
      left.events -= 1;
      open.add(sessionId);
      present.add(agentId);
      storedIds.add(eventId);
      return undefined;
    });
    return { refusals, agents };
  }

  /** Returns the quota that a recorded check would exceed, or `undefined` if it may be recorded. */
  async admitCheck(
    db: Database,
    tenantId: number,
    { agentId, sessionId }: RecordedCheck,
    nowMs: number,
  ): Promise<ExceededQuota | undefined> {
    const recordedAgents = sessionId === undefined ? [] : [agentId];
    const { agents, room } = await this.#roomFor(db, tenantId, recordedAgents, nowMs);
    if (leftOf(room, 'checksPerMonth') <= 0) return exceeded(room, 'checksPerMonth');
    if (sessionId === undefined) return undefined;
    if (leftOf(room, 'eventsPerMonth') <= 0) return exceeded(room, 'eventsPerMonth');
    if (!agents.has(agentId) && leftOf(room, 'agents') <= 0) return exceeded(room, 'agents');
    if (leftOf(room, 'sessions') > 0) return undefined;
    const isOpen = (await findSessions(db, tenantId, [sessionId])).has(sessionId);
    return isOpen ? undefined : exceeded(room, 'sessions');
  }

  /** Returns the existing agents, and room that other transactions cannot use up until this one ends. */
  async #roomFor(
    db: Database,
    tenantId: number,
    agentIds: readonly string[],
    nowMs: number,
  ): Promise<{ readonly agents: ReadonlyMap<string, AgentState>; readonly room: Room }> {
    const room = await this.#lockedRoom(db, tenantId, nowMs);
    const agents = await findAgentStates(db, tenantId, agentIds);
    if (agents.size === agentIds.length || room.quotas.agents === null || !isPostgres(db)) {
      return { agents, room };
    }
    await lockNames(db, tenantId, [agentsLock]);
    const { used } = await readRoom(db, tenantId, this.#deployment, nowMs);
    return {
      agents: await findAgentStates(db, tenantId, agentIds),
      room: { ...room, used: { ...room.used, agents: used.agents } },
    };
  }

  /** Returns the remaining room. With ample room, other processes share it; otherwise it is locked. */
  async #lockedRoom(db: Database, tenantId: number, nowMs: number): Promise<Room> {
    if (!isPostgres(db)) return readRoom(db, tenantId, this.#deployment, nowMs);
    const wasAmple = this.#ample.get(tenantId) === true;
    const room = await readRoom(db, tenantId, this.#deployment, nowMs, wasAmple ? quotaLock : undefined);
    // Twice the limit, so that tenants rarely switch between the two locks.
    const isAmple = leastRoom(room) > 2 * ampleRoom;
    keepNewest(this.#ample, tenantId, isAmple, maxTenants);
    if (isAmple && wasAmple && room.hasLock) return room;
    await lockNames(db, tenantId, [quotaLock], isAmple ? 'shared' : 'alone');
    const now = await readRoom(db, tenantId, this.#deployment, nowMs);
    if (!isAmple || leastRoom(now) > ampleRoom) return now;
    await lockNames(db, tenantId, [quotaLock]);
    return readRoom(db, tenantId, this.#deployment, nowMs);
  }
}

function exceeded({ quotas }: Room, quota: CountedQuota): ExceededQuota {
  return { quota, max: quotas[quota] as number };
}

function leastRoom(room: Room): number {
  return Math.min(...sharedQuotas.map((name) => leftOf(room, name)));
}

/** `Retry-After` in seconds for quotas that only a person or retention can free. */
const retryAfterSeconds = 3600;

/** Error thrown when a quota of the tenant is used up. Nothing of the request was stored. */
export class QuotaError extends ApiError {
  readonly quota: QuotaName;

  constructor({ quota, max }: ExceededQuota, nowMs: number) {
    const { unit, remedy, path } = quotaDefinition(quota);
    const message = [
      `The quota ${quota} of the tenant, ${max} ${unit}, is used up.`,
      ...(remedy === '' ? [] : [remedy]),
      'The operator of the service can raise it.',
    ].join(' ');
    super('RATE_LIMITED', message, {
      details: [{ path, code: 'quota_exceeded', message: `exceeds the quota ${quota} of ${max}` }],
      retryAfterSeconds: quota.endsWith('PerMonth') ? (nextMonthOf(nowMs) - nowMs) / 1000 : retryAfterSeconds,
    });
    this.quota = quota;
  }
}

/** Error thrown when a policy exceeds the tenant's remaining budget. It was not stored. */
export class PolicyCostError extends ApiError {
  readonly quota: QuotaName = 'policyCost';

  /** @param problem - cost of the policy, remaining budget, and remedy */
  constructor(problem: string) {
    super('RATE_LIMITED', problem, {
      details: [{ path: '', code: 'quota_exceeded', message: 'exceeds the quota policyCost' }],
      retryAfterSeconds,
    });
  }
}

/** Counts rows of a tenant, of which there are few. */
type Count = (db: Database, tenantId: number) => Promise<number>;

/**
 * Checks that a quota allows one more row. Other transactions must not add one at the same time.
 *
 * @throws QuotaError 429.
 */
export async function requireRoom(
  db: Database,
  tenantId: number,
  quota: QuotaName,
  count: Count,
  deployment: DeploymentQuotas,
): Promise<void> {
  const { [quota]: max } = await readQuotas(db, tenantId, deployment);
  if (max !== null && (await count(db, tenantId)) >= max) throw new QuotaError({ quota, max }, Date.now());
}

/**
 * Checks that quotas counted by writes allow the amounts; 0 or less always passes. Other transactions must not add any
 * at the same time.
 *
 * @throws QuotaError 429.
 */
export async function requireCountedRoom(
  db: Database,
  tenantId: number,
  amounts: Partial<Readonly<Record<CountedQuota, number>>>,
  nowMs: number,
  deployment: DeploymentQuotas,
): Promise<void> {
  const wanted = Object.entries(amounts).filter(([, amount]) => amount > 0) as [CountedQuota, number][];
  if (wanted.length === 0) return;
  const room = await readRoom(db, tenantId, deployment, nowMs);
  for (const [quota, amount] of wanted) {
    const max = room.quotas[quota];
    if (max !== null && leftOf(room, quota) < amount) throw new QuotaError({ quota, max }, nowMs);
  }
}
