import type { Configuration } from './configuration.ts';
import { DecisionSignal } from './guardian/decision-signal.ts';
import { Cursors } from './http/cursor.ts';
import { Entrance } from './http/entrance.ts';
import { RateLimiter } from './http/rate-limiter.ts';
import { RequestMemory } from './http/request-memory.ts';
import { UnlimitedRate } from './http/unlimited-rate.ts';
import { EventRecorder } from './ingest/event-recorder.ts';
import { GroupCommit } from './ingest/group-commit.ts';
import type { DeploymentSecret } from './keys/deployment-secret.ts';
import { KeyRing } from './keys/key-ring.ts';
import type { Metrics } from './metrics.ts';
import { PolicySets } from './policy/policy-set.ts';
import { RiskSettling } from './risk/risk-settling.ts';
import type { Services } from './services.ts';
import type { Storage } from './storage/storage.ts';
import { AddressGuard } from './webhooks/address-guard.ts';
import { Outbox } from './webhooks/outbox.ts';

/** A turn to a database on another machine and back takes about as long. */
const gatherMs = 4;

/** Puts the parts together that the endpoints share. */
export function assemble(
  settings: Configuration,
  storage: Storage,
  secret: DeploymentSecret,
  metrics: Metrics,
): Services {
  const policySets = new PolicySets();
  const outbox = new Outbox(policySets);
  const settling = new RiskSettling(storage, outbox);
  const recorder = new EventRecorder(undefined, () => {
    storage.forgetSessions();
    settling.noteBehind();
  });
  const keys = new KeyRing(storage, { acceptsTestKeys: settings.acceptTestKeys });
  const requestRate =
    settings.rateLimit === false ? new UnlimitedRate(storage) : new RateLimiter(storage, settings.rateLimit);
  const memory = (refusal: string, maxBytes = settings.maxQueuedBytes) =>
    new RequestMemory(maxBytes, refusal);
  return {
    storage,
    secret,
    policySets,
    recorder,
    settling,
    outbox,
    ingest: new GroupCommit({
      maxQueued: settings.maxQueuedEvents,
      metrics,
      gatherMs: storage.isShared ? gatherMs : 0,
      commit: async (groups) => {
        const recorded = await storage.record(groups);
        settling.after(recorded);
        return recorded.outcomes;
      },
    }),
    keys,
    cursors: new Cursors(secret.cursorKey),
    entrance: new Entrance(keys, requestRate),
    decisions: new DecisionSignal(storage),
    eventMemory: memory('Too many events wait to be stored. Send this one again later.'),
    checkMemory: memory('Too many checks wait. Send this one again later.'),
    waitMemory: memory('Too many checks wait for a decision.', settings.maxQueuedBytes / 2),
    bodyMemory: memory('Too many requests wait. Send this one again later.'),
    exportMemory: memory('Too many exports run. Ask for this one again later.'),
    unreadTimeoutMs: settings.requestTimeoutMs,
    addressGuard: new AddressGuard(settings.webhookAllowedRanges),
  };
}
