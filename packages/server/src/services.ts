import type { DecisionSignal } from './guardian/decision-signal.ts';
import type { LoopTurns } from './http/limits/loop-turns.ts';
import type { FailedAuthentications } from './http/limits/rate-limiter.ts';
import type { RequestMemory, ResponseMemory } from './http/limits/request-memory.ts';
import type { Cursors } from './http/page.ts';
import type { RequestGate } from './http/request-gate.ts';
import type { EventWriter } from './ingest/event-writer.ts';
import type { GroupCommit } from './ingest/group-commit.ts';
import type { DeploymentSecret } from './keys/deployment-secret.ts';
import type { KeyAgents } from './keys/key-agents.ts';
import type { KeyRing } from './keys/key-ring.ts';
import type { Metrics } from './observability/metrics.ts';
import type { UnreadSpansOfTenants } from './observability/unread-spans.ts';
import type { DecisionLog } from './policy/decision-log.ts';
import type { PolicySets } from './policy/policy-set.ts';
import type { QuotaGate } from './quota/quota-gate.ts';
import type { RiskScoring } from './risk/risk-scoring.ts';
import type { Storage } from './storage/storage.ts';
import type { DeploymentQuotas } from './storage/stores/quota-store.ts';
import type { QuotaName } from './storage/stores/quota-table.ts';
import type { TenantTurns } from './tenant-turns.ts';
import type { Users } from './users/users.ts';
import type { AddressGuard } from './webhooks/address-guard.ts';
import type { WebhookOutbox } from './webhooks/webhook-outbox.ts';

/** Parts that the endpoints share. */
export interface Services {
  readonly storage: Storage;
  readonly ingest: GroupCommit;
  /** Writes events as part of a larger transaction. */
  readonly eventWriter: EventWriter;
  readonly keys: KeyRing;
  /** Agents that each key acts as. */
  readonly keyAgents: KeyAgents;
  readonly cursors: Cursors;
  readonly secret: DeploymentSecret;
  /** People who sign in. */
  readonly users: Users;
  /** Limits failed authentications of each client address. */
  readonly failedAuthentications: FailedAuthentications;
  /** Admits requests by their callers. */
  readonly requestGate: RequestGate;
  readonly scoring: RiskScoring;
  /** Quotas of the deployment, for tenants without their own. */
  readonly quotas: DeploymentQuotas;
  readonly quotaGate: QuotaGate;
  /** Counts an exceeded quota that no error response reports. */
  readonly countQuotaRefusal: (quota: QuotaName) => void;
  readonly metrics: Metrics;
  readonly policySets: PolicySets;
  /** Keeps the decision of every check. */
  readonly decisionLog: DecisionLog;
  /** Shares the event loop between the checks and large bodies of tenants. */
  readonly tenantTurns: TenantTurns;
  /** Shares the writing connections between the checks and changes of tenants. */
  readonly writeTurns: TenantTurns;
  readonly decisions: DecisionSignal;
  /** Request header in which a trusted proxy names the person; `undefined` without such a proxy. */
  readonly principalHeader: string | undefined;
  /** Limits the memory of events until they are stored. */
  readonly eventMemory: RequestMemory;
  /** Limits the memory of checks, including those that wait for a decision. */
  readonly checkMemory: RequestMemory;
  /** Limits the part of it for checks that wait for a decision, which leaves room for new checks. */
  readonly waitMemory: RequestMemory;
  /** Limits the memory of all other request bodies. */
  readonly bodyMemory: RequestMemory;
  /** Limits the memory of spans from their first byte until their events are stored. */
  readonly traceMemory: RequestMemory;
  /** Spans that were not understood. */
  readonly unreadSpans: UnreadSpansOfTenants;
  /** Limits the memory of exports while they are sent. */
  readonly exportMemory: RequestMemory;
  /** Limits the memory of pipelined requests, all but the first of each connection. */
  readonly pipelinedMemory: RequestMemory;
  /** Limits the memory of responses from before they are rendered until they are written. */
  readonly responseMemory: ResponseMemory;
  /** Spreads large reads over turns of the event loop. */
  readonly turns: LoopTurns;
  readonly outbox: WebhookOutbox;
  readonly addressGuard: AddressGuard;
}
