import type { AddressInfo } from 'node:net';
import { headers } from '@actlog/protocol';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { Administration } from './administration/administration.ts';
import { assemble } from './assemble.ts';
import { BackgroundTasks, deleteExpiredData, recordRetentions } from './background/background-tasks.ts';
import { type Configuration, configured, type ServerOptions } from './configuration.ts';
import { ServerLog } from './evidence/server-log.ts';
import { failureReasons } from './forward/destination.ts';
import { createDestination } from './forward/forward-settings.ts';
import { Forwarder } from './forward/forwarder.ts';
import { History } from './history/history.ts';
import { historyForwarding } from './history/history-destination.ts';
import { createApp } from './http/app.ts';
import { isoTime } from './lib/iso-time.ts';
import { TenantTurns } from './lib/tenant-turns.ts';
import { LogOutput } from './observability/log-output.ts';
import { Metrics } from './observability/metrics.ts';
import { openStorage } from './open-storage.ts';
import { learnFromEndedSessions } from './risk/learning.ts';
import { recordHistoryUse, storedEvents } from './storage/event-reader.ts';
import { settleRetention } from './storage/retention/retention.ts';
import { WatchedStorage } from './storage/storage.ts';
import { hasEnded } from './storage/stores/key-store.ts';
import { checkSecret, deploymentSecret } from './tenants/deployment-secret.ts';
import { endKeys, provisionKeys, type RunKeys } from './tenants/provisioning.ts';
import { WebhookSender } from './webhooks/sender.ts';

/** Maximum concurrent checks per tenant. */
const maxChecks = 16;

/** Maximum rounds of scoring after a crash, because other servers may keep writing. */
const roundsAfterCrash = 20;

/**
 * Time for clients to read their responses when the server closes, in milliseconds. A client that does not read must
 * not delay the close forever.
 */
const closeGraceMs = 10_000;

/** A running server. */
export interface RunningServer {
  /** Base address for clients of this machine, such as `http://127.0.0.1:49152`. */
  readonly url: string;
  /** Key of the configured tenant with every scope, for people and for programs that manage the service. */
  readonly apiKey: string;
  /**
   * Key of the configured tenant for agents, with the scopes `ingest` and `read`: it records and checks actions, and
   * cannot approve them. Created for this run; expires on `close`. `undefined` with the option `apiKey`: then create
   * one by `admin.keys.create`.
   */
  readonly agentKey: string | undefined;
  /** Operations that are not part of the HTTP API. */
  readonly admin: Administration;
  /**
   * Stops accepting requests, completes those in progress, and closes the database. A client that does not read its
   * response is disconnected after ten seconds. Further calls return the same promise.
   */
  close(): Promise<void>;
}

/**
 * Starts the service: every endpoint on an embedded database, or on PostgreSQL.
 *
 * ```ts
 * const { url, apiKey, close } = await startServer({ port: 0 });
 * ```
 *
 * The returned keys are created for this run and expire on `close`. With the option `apiKey`, that key is returned
 * instead, and stays.
 *
 * @throws TypeError for options that are not valid; Error when the port is taken, the database cannot be opened, or the
 *   runtime is Bun.
 */
export function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  return start(options, false);
}

/**
 * Starts the service like {@link startServer}, but the keys that it creates do not expire on `close`: the next server of
 * the same database and secret returns the same ones, unless somebody revoked them.
 *
 * @throws as {@link startServer}.
 */
export function startWithLastingKeys(options: ServerOptions): Promise<RunningServer> {
  return start(options, true);
}

async function start(options: ServerOptions, hasLastingKeys: boolean): Promise<RunningServer> {
  checkRuntime();
  const settings = configured(options);
  const secret = deploymentSecret(settings);
  const destinations = settings.forward.map((forward) => ({
    settings: forward,
    to: createDestination(forward),
  }));
  let metrics: Metrics | undefined;
  const log = settings.logLevel === 'silent' ? undefined : new LogOutput(() => metrics?.logLineDropped());
  const logger = log && pino({ level: settings.logLevel }, log);
  const opened = await openStorage({
    database: settings.database,
    maxBytes: settings.maxDatabaseBytes,
    connections: settings.databaseConnections,
    quotas: settings.quotas,
    isIndexed: settings.history === undefined,
    onProgress: (message) => logger?.info(message),
  });
  const records = new ServerLog(settings, opened, secret, { metrics: () => metrics, logger: () => logger });
  const storage = new WatchedStorage(opened, records.sequencer);
  // Created only now, because metrics observe the process from then on, even if the start fails.
  metrics = new Metrics(
    () => parts.ingest.queued,
    () => records.sequencer.lagMs,
  );
  const tenantTurns = new TenantTurns(maxChecks);
  const stored = storedEvents(storage);
  const history =
    settings.history &&
    new History({ address: settings.history, storage, stored, days: settings.historyDays });
  const forwards = [
    ...(history
      ? [{ settings: historyForwarding(settings.historyBlockSeconds), to: history.destination }]
      : []),
    ...destinations,
  ];
  const parts = assemble(settings, storage, secret, metrics, tenantTurns, records, {
    events: history?.events ?? stored,
    forwards: forwards.map((forward) => forward.settings),
  });
  const app = createApp({
    logger,
    metrics,
    tenantTurns,
    requestTimeoutMs: settings.requestTimeoutMs,
    unreadTimeoutMs: settings.requestTimeoutMs,
    pipelinedMemory: parts.pipelinedMemory,
  });
  if (history) {
    app.addHook('onRequest', (_request, reply, done) => {
      const onMissing = (sinceMs: number) => {
        if (!reply.sent) reply.header(headers.historyMissingSince, isoTime(sinceMs));
      };
      history.events.during(onMissing, done);
    });
  }
  const sender = new WebhookSender(
    storage,
    secret,
    parts.addressGuard,
    metrics,
    settings.webhookHostRate === false ? undefined : settings.webhookHostRate,
    parts.channels,
  );
  const forwarders = forwards.map(({ settings: forward, to }) => {
    metrics?.addForward(forward.name, failureReasons);
    return new Forwarder({
      settings: forward,
      destination: to,
      storage,
      metrics: metrics as Metrics,
      onFailure: (failure) => app.log.warn(failure, 'records could not be forwarded; they are sent again'),
    });
  });
  const tasks = new BackgroundTasks((task, err) => app.log.error({ task, err }, 'background task failed'));
  let closing: Promise<void> | undefined;
  let temporaryKeys: RunKeys | undefined;

  async function stop(): Promise<void> {
    try {
      parts.decisions.close();
      records.sequencer.stopWaiting();
      await closeApp(app);
      await parts.ingest.drain();
      await parts.decisionLog.drain();
      await tasks.stop();
      await parts.closeChannels();
      await sender.close();
      await Promise.all(forwarders.map((forwarder) => forwarder.close()));
      await parts.scoring.close();
      if (temporaryKeys) await endKeys(storage, temporaryKeys);
      await records.close();
    } finally {
      await storage.close();
      await log?.drain();
    }
  }

  const close = (): Promise<void> => {
    closing ??= stop();
    return closing;
  };

  try {
    await parts.mount(app, () => closing !== undefined);
    await checkSecret(storage, secret);
    await storage.writeAcross('administer', async ({ db }) => {
      await settleRetention(db, settings);
      await recordHistoryUse(db, history !== undefined);
    });
    await records.start();
    await parts.scoring.catchUpAll(storage.isShared ? roundsAfterCrash : undefined);
    const keys = await provisionKeys(storage, settings, hasLastingKeys ? secret : undefined);
    if (!hasLastingKeys) temporaryKeys = keys;
    const { main, agent } = keys;
    if (hasEnded(main.stored)) {
      app.log.warn(
        { keyId: main.stored.id },
        'the configured API key has ended, so every request with it is refused; configure another, or none to create one',
      );
    }
    await listen(app, settings);
    parts.outbox.onQueued(() => void sender.pass().catch(() => {}));
    tasks.every(1000, 'webhooks', () => sender.pass());
    tasks.every(1000, 'alerts', (signal) => parts.alerts.pass(signal));
    for (const forwarder of forwarders)
      tasks.every(1000, `forwarding to ${forwarder.name}`, () => forwarder.pass());
    tasks.every(1000, 'log', async () => log?.retry());
    tasks.every(1000, 'guardian expiry', () => parts.expireActions(Date.now()));
    // Another server may have ended before it scored its events.
    tasks.every(60_000, 'scoring', () => parts.scoring.catchUpAll(roundsAfterCrash));
    // Waiting checks would still respond, only late, so a failure shows nowhere else.
    tasks.every(60_000, 'decision notifications', () => storage.assertListening());
    // Another server may have ended before it logged its records.
    tasks.every(60_000, 'records', () => records.sequencer.logAll());
    tasks.every(10_000, 'witnesses', () => records.witnesses.wakeAll());
    tasks.every(60_000, 'learning', (signal) => learnFromEndedSessions(storage, Date.now(), signal));
    tasks.every(60_000, 'retention', () => recordRetentions(storage));
    tasks.every(600_000, 'cleanup', (signal) => deleteExpiredData(storage, Date.now(), signal, history));
    // A cleanup that rests between its transactions can take longer than the time between two of them.
    tasks.every(600_000, 'write-ahead log', () => storage.truncateLog());
    if (history) {
      tasks.every(600_000, 'cleanup of the history', (signal) => history.clean(Date.now(), signal));
    }
    return {
      url: addressOf(app),
      apiKey: main.key,
      agentKey: agent?.key,
      admin: new Administration(
        storage,
        async () => secret,
        (keyId) => parts.keys.forget(keyId),
        settings.quotas,
        history?.events,
      ),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function listen(app: FastifyInstance, { host, port }: Configuration): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw listenError(error, { host, port });
  }
}

async function closeApp(app: FastifyInstance): Promise<void> {
  const grace = setTimeout(() => app.server.closeAllConnections(), closeGraceMs).unref();
  try {
    await app.close();
  } finally {
    clearTimeout(grace);
  }
}

/** Returns the URL of the server for clients on this machine: the loopback address if it listens on every address. */
function addressOf(app: FastifyInstance): string {
  const { address, family, port } = app.server.address() as AddressInfo;
  if (family === 'IPv6') return `http://[${address === '::' ? '::1' : address}]:${port}`;
  return `http://${address === '0.0.0.0' ? '127.0.0.1' : address}:${port}`;
}

/**
 * Checks the runtime. Bun replaces `undici` with its own version, which connects to any address. Webhooks could then
 * reach the server's network without any error.
 *
 * @throws Error on Bun.
 */
function checkRuntime(): void {
  if (process.versions.bun === undefined) return;
  throw new Error('The server does not run on Bun, which would let webhooks reach any address: use Node.js.');
}

/** Address on which a server is to listen. */
interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const choosePort = 'choose another port (--port, ACTLOG_PORT), or 0 for a free one';
const chooseHost = 'choose another host (--host, ACTLOG_HOST)';

/** Returns an error that says why a server cannot listen and what to do. Returns any other error unchanged. */
function listenError(error: unknown, { host, port }: ListenAddress): unknown {
  const problem = problemOf((error as NodeJS.ErrnoException | undefined)?.code, { host, port });
  return problem === undefined ? error : new Error(problem, { cause: error });
}

function problemOf(code: string | undefined, { host, port }: ListenAddress): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return `The port ${port} of ${host} is in use, perhaps by another actlog: ${choosePort}.`;
    case 'EACCES':
      return `This process may not listen on the port ${port}: ${choosePort}.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `This machine has no address "${host}" to listen on: ${chooseHost}.`;
    default:
      return undefined;
  }
}
