import type { FastifyInstance } from 'fastify';
import { AlertWatch } from './channels/alerts.ts';
import type { ChannelDriver } from './channels/channel.ts';
import { ChannelDeliveries } from './channels/channel-delivery.ts';
import { MailChannel } from './channels/mail.ts';
import { PushChannel } from './channels/push.ts';
import { Routing } from './channels/routing.ts';
import { SlackChannel } from './channels/slack.ts';
import { mountSlackClicks } from './channels/slack-clicks.ts';
import { TeamsChannel } from './channels/teams.ts';
import type { Configuration } from './configuration.ts';
import { mountConsole } from './console/mount-console.ts';
import { mountLog } from './evidence/mount-log.ts';
import type { ServerLog } from './evidence/server-log.ts';
import { type ForwarderSettings, forwardingOf } from './forward/forwarder.ts';
import { DecisionSignal } from './guardian/decision-signal.ts';
import { expireActions } from './guardian/hold-action.ts';
import { FailedAuthentications, RateLimiter, UnlimitedRate } from './http/limits/rate-limiter.ts';
import { RequestMemory, ResponseMemory } from './http/limits/request-memory.ts';
import { LoopTurns } from './http/limits/turns.ts';
import { mountEndpoints } from './http/mount.ts';
import { MetricsAccess, mountDocs, mountOperations } from './http/operations.ts';
import { Cursors } from './http/page.ts';
import { RequestGate } from './http/request-gate.ts';
import { EventWriter } from './ingest/event-writer.ts';
import { GroupCommit } from './ingest/group-commit.ts';
import { TenantTurns } from './lib/tenant-turns.ts';
import type { Metrics } from './observability/metrics.ts';
import { UnreadSpansOfTenants } from './observability/unread-spans.ts';
import { mountTraces } from './otlp/mount-traces.ts';
import { DecisionLog } from './policy/decision-log.ts';
import { PolicySets } from './policy/policy-set.ts';
import {
  createAgent,
  getAgent,
  listAgentSessions,
  listAgentsRoute,
  updateAgent,
} from './resources/agents.ts';
import { checkAction } from './resources/check.ts';
import { createEvent } from './resources/events.ts';
import { decidePendingAction, listPendingActionsRoute } from './resources/guardian.ts';
import { createChannel, listChannelsRoute } from './resources/notification-channels.ts';
import {
  archivePolicy,
  createPolicy,
  getPolicy,
  listPoliciesRoute,
  updatePolicy,
} from './resources/policies.ts';
import { exportSession, getRisk, getSession, listSessionsRoute } from './resources/sessions.ts';
import { RiskScoring } from './risk/risk-scoring.ts';
import { mountServerApi } from './server-api/mount-server-api.ts';
import type { EventReader } from './storage/event-reader.ts';
import type { Storage } from './storage/storage.ts';
import type { DeploymentSecret } from './tenants/deployment-secret.ts';
import { KeyAgents, KeyRing } from './tenants/key-ring.ts';
import { QuotaGate } from './tenants/quotas.ts';
import { VerifiedCallers } from './tenants/verified-callers.ts';
import { People } from './users/people.ts';
import { Users } from './users/users.ts';
import { AddressGuard } from './webhooks/address-guard.ts';
import { guardedAgent } from './webhooks/sender.ts';
import { WebhookOutbox } from './webhooks/webhook-outbox.ts';

/**
 * Maximum concurrent writes per tenant on a shared database, where each write waits for the network. On SQLite a write
 * waits for all earlier ones, and so do the events of all tenants.
 */
const maxSharedWrites = 8;

/** Delay in which a group of events collects, in milliseconds; about a round trip to a database on another machine. */
const gatherMs = 4;

/** An assembled server: the parts that run besides its requests. */
export interface Assembly {
  readonly ingest: GroupCommit;
  readonly decisionLog: DecisionLog;
  readonly decisions: DecisionSignal;
  readonly scoring: RiskScoring;
  readonly outbox: WebhookOutbox;
  readonly keys: KeyRing;
  readonly addressGuard: AddressGuard;
  /** Sends to channels that are not webhooks. */
  readonly channels: ChannelDeliveries;
  /** Looks for the causes of alerts. */
  readonly alerts: AlertWatch;
  /** Closes the connections to the receivers of channels. */
  closeChannels(): Promise<void>;
  /** Limits the memory of pipelined requests, all but the first of each connection. */
  readonly pipelinedMemory: RequestMemory;
  /** Ends held actions that are past their expiry. Returns their number. */
  expireActions(nowMs: number): Promise<number>;
  /**
   * Mounts all routes.
   *
   * @param isClosing - `true` once the server has begun to stop
   */
  mount(app: FastifyInstance, isClosing: () => boolean): Promise<void>;
}

/** Reader of events, and settings of the forwarders. */
export interface EventPlaces {
  readonly events: EventReader;
  readonly forwards: readonly ForwarderSettings[];
}

/** Creates the parts of a server, and hands each route those that it uses. */
export function assemble(
  settings: Configuration,
  storage: Storage,
  secret: DeploymentSecret,
  metrics: Metrics,
  tenantTurns: TenantTurns,
  { keys: logKeys, sequencer, witnesses }: ServerLog,
  { events, forwards }: EventPlaces,
): Assembly {
  const { quotas, principalHeader, maxQueuedBytes, maxQueuedEvents } = settings;
  const memory = (refusal: string, maxBytes = maxQueuedBytes) => new RequestMemory(maxBytes, refusal);

  const keys = new KeyRing(storage, {
    acceptsTestKeys: settings.acceptTestKeys,
    requiresIdentity: settings.requireIdentity,
  });
  const users = new Users(settings, storage, secret);
  const failedAuthentications = new FailedAuthentications(settings.invalidKeyLimit);
  const requestRate =
    settings.rateLimit === false ? new UnlimitedRate(storage) : new RateLimiter(storage, settings.rateLimit);
  const requestGate = new RequestGate(keys, users, requestRate, failedAuthentications);
  const turns = new LoopTurns(1);
  const serving = {
    requestGate,
    turns,
    bodyMemory: memory('Too many requests are in progress. Send this one again later.'),
    responseMemory: new ResponseMemory(maxQueuedBytes),
  };

  const writeTurns = new TenantTurns(storage.isShared ? maxSharedWrites : 1);
  const keyAgents = new KeyAgents(storage, writeTurns);
  const verifiedCallers = new VerifiedCallers(settings.identityIssuers);
  const cursors = new Cursors(secret.cursorKey);
  const unreadSpans = new UnreadSpansOfTenants();
  const policySets = new PolicySets();
  const addressGuard = new AddressGuard(settings.webhookAllowedRanges, settings.webhookAllowedPorts);
  const { publicUrl, traceUrl } = settings;
  const channelAgent = guardedAgent(addressGuard);
  const slack = new SlackChannel(settings, channelAgent);
  const drivers = new Map<string, ChannelDriver>(
    [
      slack,
      new MailChannel(settings),
      new TeamsChannel(publicUrl, addressGuard, channelAgent),
      new PushChannel({ storage, secret, publicUrl, agent: channelAgent }),
    ].map((driver) => [driver.kind, driver]),
  );
  const people = new People(users.roles, settings.channelSignInDays);
  const routing = new Routing(people, (kind) => drivers.get(kind)?.updates === true);
  const outbox = new WebhookOutbox(policySets, routing);
  const scoring = new RiskScoring(storage, outbox, metrics);
  const ingest = new GroupCommit({
    storage,
    scoring,
    metrics,
    maxQueued: maxQueuedEvents,
    gatherMs: storage.isShared ? gatherMs : 0,
  });

  const audit = { quotas, principalHeader };
  const decisionLog = new DecisionLog({
    storage,
    quotas,
    isOn: settings.keepDecisions,
    maxQueued: maxQueuedEvents,
    metrics,
  });
  const decisions = new DecisionSignal(storage);
  const eventWriter = new EventWriter(undefined, () => {
    storage.clearSessionCache();
    scoring.scheduleCatchUp();
  });
  const holding = { quotas, decisionLog, decisions, eventWriter, metrics, outbox };
  const checking = { ...holding, policySets, quotaGate: new QuotaGate(quotas), secret };

  const mountV1 = (app: FastifyInstance) =>
    mountEndpoints(
      app,
      { ...serving, storage, writeTurns, secret },
      {
        'events.create': createEvent({
          ingest,
          keyAgents,
          verifiedCallers,
          eventMemory: memory('Too many events are waiting to be stored. Send this one again later.'),
        }),
        'sessions.list': listSessionsRoute({ cursors, scoring, events }),
        'sessions.get': getSession({ cursors, scoring, events }),
        'sessions.risk': getRisk({ storage, scoring, events }),
        'sessions.export': exportSession({
          storage,
          events,
          scoring,
          turns,
          exportMemory: new RequestMemory(
            maxQueuedBytes,
            'Too many exports are in progress. Request this one again later.',
            // The peer may be one that does not read.
            { connection: 'close' },
          ),
        }),
        'agents.create': createAgent(audit),
        'agents.list': listAgentsRoute({ cursors }),
        'agents.get': getAgent,
        'agents.update': updateAgent(audit),
        'agents.sessions': listAgentSessions({ storage, cursors, scoring, events }),
        'policies.create': createPolicy({ ...audit, storage, policySets }),
        'policies.list': listPoliciesRoute({ cursors }),
        'policies.get': getPolicy,
        'policies.update': updatePolicy({ ...audit, storage, policySets }),
        'policies.archive': archivePolicy(audit),
        'policies.check': checkAction({
          ...checking,
          storage,
          keyAgents,
          verifiedCallers,
          requestGate,
          tenantTurns,
          writeTurns,
          checkMemory: memory('Too many checks are in progress. Send this one again later.'),
          waitMemory: memory('Too many checks are waiting for a decision.', maxQueuedBytes / 2),
        }),
        'guardian.pendingActions.list': listPendingActionsRoute({ cursors }),
        'guardian.pendingActions.decide': decidePendingAction({ ...holding, principalHeader }),
        'notificationChannels.create': createChannel({ ...audit, addressGuard, secret }),
        'notificationChannels.list': listChannelsRoute({ cursors }),
      },
    );

  return {
    ingest,
    decisionLog,
    decisions,
    scoring,
    outbox,
    keys,
    addressGuard,
    channels: new ChannelDeliveries({ storage, secret, drivers, publicUrl, traceUrl }),
    alerts: new AlertWatch({ storage, routing, onQueued: () => outbox.wake() }),
    closeChannels: () => channelAgent.destroy(),
    pipelinedMemory: memory('Too many pipelined requests are waiting.'),
    expireActions: (nowMs) => expireActions({ ...holding, storage }, nowMs),
    async mount(app, isClosing) {
      mountOperations(app, { storage, metrics, metricsAccess: new MetricsAccess(settings), isClosing });
      mountV1(app);
      await mountServerApi(app, {
        ...serving,
        ...audit,
        ...checking,
        storage,
        events,
        cursors,
        scoring,
        tenantTurns,
        writeTurns,
        sequencer,
        witnesses,
        logKeys,
        forwarding: (tenantId) => forwardingOf(storage, forwards, { tenantId, operators: settings.tenant }),
        drivers,
        routing,
        addressGuard,
        verifiedCallers,
        tenant: users.tenant,
        keepLog: settings.keepLog,
      });
      await mountSlackClicks(app, {
        ...holding,
        slack,
        storage,
        secret,
        writeTurns,
        people,
        tenant: users.tenant,
        slackPeople: settings.slackPeople,
        failedAuthentications,
        publicUrl,
        traceUrl,
      });
      mountLog(app, {
        storage,
        keys: logKeys,
        witnesses,
        access: settings.logAccess,
        gate: requestGate,
        memory: serving.bodyMemory,
      });
      await mountTraces(app, {
        requestGate,
        keyAgents,
        verifiedCallers,
        tenantTurns,
        traceMemory: memory('Too many spans are waiting to be read. Send these again later.'),
        ingest,
        unreadSpans,
        metrics,
      });
      if (settings.docs) mountDocs(app);
      if (settings.console) {
        const signIn = { users, secret, failedAuthentications };
        await mountConsole(app, { ...serving, ...audit, ...signIn, storage, keys, unreadSpans }, settings);
      }
      const firstPage = settings.console ? './console/' : settings.docs && './docs/';
      if (firstPage) app.get('/', (_request, reply) => reply.redirect(firstPage));
    },
  };
}
