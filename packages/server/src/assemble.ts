import type { Configuration } from './configuration.ts';
import { DecisionSignal } from './guardian/decision-signal.ts';
import { LoopTurns } from './http/limits/loop-turns.ts';
import { FailedAuthentications, RateLimiter, type RequestRate } from './http/limits/rate-limiter.ts';
import { RequestMemory, ResponseMemory } from './http/limits/request-memory.ts';
import { Cursors } from './http/page.ts';
import { RequestGate } from './http/request-gate.ts';
import { EventWriter } from './ingest/event-writer.ts';
import { GroupCommit } from './ingest/group-commit.ts';
import type { Caller } from './keys/caller.ts';
import type { DeploymentSecret } from './keys/deployment-secret.ts';
import { KeyAgents } from './keys/key-agents.ts';
import { KeyRing } from './keys/key-ring.ts';
import { keepNewest } from './lib/keep-newest.ts';
import type { Metrics } from './observability/metrics.ts';
import { UnreadSpansOfTenants } from './observability/unread-spans.ts';
import { DecisionLog } from './policy/decision-log.ts';
import { PolicySets } from './policy/policy-set.ts';
import { QuotaGate } from './quota/quota-gate.ts';
import { RiskScoring } from './risk/risk-scoring.ts';
import type { Services } from './services.ts';
import { storageOutage } from './storage/outage.ts';
import type { Storage } from './storage/storage.ts';
import { recordKeyUse } from './storage/stores/key-store.ts';
import { TenantTurns } from './tenant-turns.ts';
import { Users } from './users/users.ts';
import { AddressGuard } from './webhooks/address-guard.ts';
import { WebhookOutbox } from './webhooks/webhook-outbox.ts';

/**
 * Maximum concurrent writes per tenant on a shared database, where each write waits for the network. On SQLite a write
 * waits for all earlier ones, and so do the events of all tenants.
 */
const maxSharedWrites = 8;

/** Delay in which a group of events collects, in milliseconds; about a round trip to a database on another machine. */
const gatherMs = 4;

/** Creates the parts that the endpoints share. */
export function assemble(
  settings: Configuration,
  storage: Storage,
  secret: DeploymentSecret,
  metrics: Metrics,
  tenantTurns: TenantTurns,
): Services {
  const policySets = new PolicySets();
  const outbox = new WebhookOutbox(policySets);
  const scoring = new RiskScoring(storage, outbox, (reached) => metrics.levelsReached(reached));
  const eventWriter = new EventWriter(undefined, () => {
    storage.clearSessionCache();
    scoring.scheduleCatchUp();
  });
  const keys = new KeyRing(storage, { acceptsTestKeys: settings.acceptTestKeys });
  const failedAuthentications = new FailedAuthentications(settings.invalidKeyLimit);
  const users = new Users(settings, storage, secret);
  const requestRate =
    settings.rateLimit === false ? new UnlimitedRate(storage) : new RateLimiter(storage, settings.rateLimit);
  const memory = (refusal: string, maxBytes = settings.maxQueuedBytes) =>
    new RequestMemory(maxBytes, refusal);
  const writeTurns = new TenantTurns(storage.isShared ? maxSharedWrites : 1);
  return {
    storage,
    secret,
    quotas: settings.quotas,
    quotaGate: new QuotaGate(settings.quotas),
    countQuotaRefusal: (quota) => metrics.quotaRefusal(quota),
    metrics,
    policySets,
    decisionLog: new DecisionLog({
      storage,
      quotas: settings.quotas,
      isOn: settings.keepDecisions,
      maxQueued: settings.maxQueuedEvents,
      countQuotaRefusal: (quota) => metrics.quotaRefusal(quota),
      countDecision: (decision) => metrics.decision(decision),
    }),
    tenantTurns,
    writeTurns,
    eventWriter,
    scoring,
    outbox,
    ingest: new GroupCommit({
      maxQueued: settings.maxQueuedEvents,
      metrics,
      gatherMs: storage.isShared ? gatherMs : 0,
      commit: async (groups) => {
        const recorded = await storage.record(groups);
        scoring.after(recorded);
        return recorded.outcomes;
      },
    }),
    keys,
    keyAgents: new KeyAgents(storage, writeTurns),
    users,
    failedAuthentications,
    cursors: new Cursors(secret.cursorKey),
    requestGate: new RequestGate(keys, users, requestRate, failedAuthentications),
    decisions: new DecisionSignal(storage),
    principalHeader: settings.principalHeader,
    eventMemory: memory('Too many events are waiting to be stored. Send this one again later.'),
    checkMemory: memory('Too many checks are in progress. Send this one again later.'),
    waitMemory: memory('Too many checks are waiting for a decision.', settings.maxQueuedBytes / 2),
    bodyMemory: memory('Too many requests are in progress. Send this one again later.'),
    traceMemory: memory('Too many spans are waiting to be read. Send these again later.'),
    unreadSpans: new UnreadSpansOfTenants(),
    exportMemory: new RequestMemory(
      settings.maxQueuedBytes,
      'Too many exports are in progress. Request this one again later.',
      // The peer may be one that does not read.
      { connection: 'close' },
    ),
    pipelinedMemory: memory('Too many pipelined requests are waiting.'),
    responseMemory: new ResponseMemory(settings.maxQueuedBytes),
    turns: new LoopTurns(1),
    addressGuard: new AddressGuard(settings.webhookAllowedRanges, settings.webhookAllowedPorts),
  };
}

/** Minimum time between two updates of a key's last use, in milliseconds. */
const minUpdateIntervalMs = 1000;

/** Maximum number of keys whose last update is remembered. */
const maxKeys = 10_000;

const noHeaders: Record<string, string> = {};

/** Admits every request, and records the use of its key, which otherwise the rate limiter does. */
class UnlimitedRate implements RequestRate {
  readonly #storage: Storage;
  readonly #updatedMs = new Map<string, number>();

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  async take(caller: Caller): Promise<Record<string, string>> {
    const { tenantId, keyId } = caller;
    if (keyId === undefined || this.takeFromStock(caller)) return noHeaders;
    const nowMs = Date.now();
    keepNewest(this.#updatedMs, keyId, nowMs, maxKeys);
    try {
      await this.#storage.write(tenantId, ({ db }) => recordKeyUse(db, tenantId, keyId, nowMs));
    } catch (error) {
      // A read-only database can still be read.
      if (storageOutage(error) === undefined) throw error;
    }
    return noHeaders;
  }

  takeFromStock({ keyId }: Caller): Record<string, string> | undefined {
    if (keyId === undefined) return noHeaders;
    const updatedMs = this.#updatedMs.get(keyId);
    return updatedMs !== undefined && Math.abs(Date.now() - updatedMs) < minUpdateIntervalMs
      ? noHeaders
      : undefined;
  }
}
