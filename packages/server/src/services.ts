import type { DecisionSignal } from './guardian/decision-signal.ts';
import type { Cursors } from './http/cursor.ts';
import type { Entrance } from './http/entrance.ts';
import type { RequestMemory } from './http/request-memory.ts';
import type { EventRecorder } from './ingest/event-recorder.ts';
import type { GroupCommit } from './ingest/group-commit.ts';
import type { DeploymentSecret } from './keys/deployment-secret.ts';
import type { KeyRing } from './keys/key-ring.ts';
import type { PolicySets } from './policy/policy-set.ts';
import type { RiskSettling } from './risk/risk-settling.ts';
import type { Storage } from './storage/storage.ts';
import type { AddressGuard } from './webhooks/address-guard.ts';
import type { Outbox } from './webhooks/outbox.ts';

/** The parts that the endpoints share. */
export interface Services {
  readonly storage: Storage;
  readonly ingest: GroupCommit;
  /** Writes events within a transaction that does more. */
  readonly recorder: EventRecorder;
  readonly keys: KeyRing;
  readonly cursors: Cursors;
  readonly secret: DeploymentSecret;
  /** Lets requests in, by their keys. */
  readonly entrance: Entrance;
  readonly settling: RiskSettling;
  readonly policySets: PolicySets;
  readonly decisions: DecisionSignal;
  /** What events take until they are stored. */
  readonly eventMemory: RequestMemory;
  /** What checks take, those that wait for a decision too. */
  readonly checkMemory: RequestMemory;
  /** The part of it that those may take that wait for a decision, so that they leave room for questions. */
  readonly waitMemory: RequestMemory;
  /** What the bodies of all other requests take. */
  readonly bodyMemory: RequestMemory;
  /** What exports take while they are sent. */
  readonly exportMemory: RequestMemory;
  /** Milliseconds that an answer may stand unread before its connection is closed. */
  readonly unreadTimeoutMs: number;
  readonly outbox: Outbox;
  readonly addressGuard: AddressGuard;
}
