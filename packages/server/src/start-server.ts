import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { Administration } from './administration.ts';
import { assemble } from './assemble.ts';
import { BackgroundTasks } from './background-tasks.ts';
import { type Configuration, configured, type ServerOptions } from './configuration.ts';
import { mountConsoleApi } from './console/mount-api.ts';
import { mountConsolePage } from './console/page.ts';
import { expireActions } from './guardian/expiry.ts';
import { keepHouse } from './housekeeping.ts';
import { createApp } from './http/app.ts';
import { mountDocs } from './http/docs.ts';
import { mountEndpoints } from './http/mount.ts';
import { mountOperations } from './http/operations.ts';
import { deploymentSecret } from './keys/deployment-secret.ts';
import { addKey, ensureTenant } from './keys/provisioning.ts';
import { checkSecret } from './keys/secret-check.ts';
import { listenError } from './listen-error.ts';
import { LogOutput } from './log-output.ts';
import { Metrics } from './metrics.ts';
import { learnFromEndedSessions } from './risk/learning.ts';
import { createRoutes } from './routes.ts';
import { checkRuntime } from './runtime.ts';
import { expireKey, hasEnded } from './storage/key-store.ts';
import { openStorage } from './storage/open-storage.ts';
import type { Storage } from './storage/storage.ts';
import { WebhookSender } from './webhooks/sender.ts';

/** Rounds of scoring what a crash left behind, where other servers may go on writing meanwhile. */
const roundsAfterCrash = 20;

/**
 * Milliseconds that clients have to take the rest of their answers when the server closes. One that does not read
 * would hold the close up for ever.
 */
const closeGraceMs = 10_000;

/** A server that listens. */
export interface RunningServer {
  /** Base address for clients of this machine, such as `http://127.0.0.1:49152`. */
  readonly url: string;
  /** A key of the configured tenant with every scope. */
  readonly apiKey: string;
  /** What an operator does beside the HTTP interface. */
  readonly admin: Administration;
  /**
   * Stops taking requests, answers those it has taken, and closes the database. A client that does not read its answer
   * is cut off after ten seconds. Can be called again.
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
 * The returned key is made for this run and ends with `close`, unless `apiKey` names one to keep.
 *
 * @throws TypeError for options that are not valid; Error when the port is taken, the database cannot be opened, or the
 *   runtime is Bun.
 */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  checkRuntime();
  const settings = configured(options);
  const secret = deploymentSecret(settings);
  let metrics: Metrics | undefined;
  const log = settings.logLevel === 'silent' ? undefined : new LogOutput(() => metrics?.logLineDropped());
  const logger = log && pino({ level: settings.logLevel }, log);
  const storage = await openStorage({
    database: settings.database,
    maxBytes: settings.maxDatabaseBytes,
    connections: settings.databaseConnections,
    tell: (message) => logger?.info(message),
  });
  // Not before: they watch the process from then on, whether or not a server comes of it.
  metrics = new Metrics(() => services.ingest.queued);
  const services = assemble(settings, storage, secret, metrics);
  const app = createApp({
    logger,
    metrics,
    requestTimeoutMs: settings.requestTimeoutMs,
  });
  const sender = new WebhookSender(storage, secret, services.addressGuard);
  const tasks = new BackgroundTasks((task, err) => app.log.error({ task, err }, 'background task failed'));
  let closing: Promise<void> | undefined;
  let own: OwnKey | undefined;

  async function stop(): Promise<void> {
    try {
      services.decisions.close();
      await closeApp(app);
      await services.ingest.drain();
      await tasks.stop();
      await sender.close();
      await services.settling.close();
      if (own) await endKey(storage, own);
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
    mountOperations(app, { storage, metrics, isClosing: () => closing !== undefined });
    mountEndpoints(app, services, createRoutes(services));
    if (settings.docs) await mountDocs(app);
    if (settings.console) {
      mountConsolePage(app);
      await mountConsoleApi(app, services);
    }
    const firstPage = settings.console ? './console/' : settings.docs && './docs';
    if (firstPage) app.get('/', (_request, reply) => reply.redirect(firstPage));
    await checkSecret(storage, secret);
    await services.settling.catchUpAll(storage.isShared ? roundsAfterCrash : undefined);
    const { apiKey, key } = await provisionKey(storage, settings);
    if (settings.apiKey === undefined) own = key;
    if (hasEnded(key)) {
      app.log.warn(
        { keyId: key.id },
        'the configured API key has ended, so every request with it is refused; give another, or none to have one made',
      );
    }
    await listen(app, settings);
    services.outbox.onQueued(() => void sender.pass().catch(() => {}));
    tasks.every(1000, 'webhooks', () => sender.pass());
    tasks.every(1000, 'log', async () => log?.retry());
    tasks.every(1000, 'guardian expiry', () => expireActions(services, Date.now()));
    // A server beside this one may have ended before it had scored what it took.
    tasks.every(60_000, 'scoring', () => services.settling.catchUpAll(roundsAfterCrash));
    // Whoever waits is answered all the same, only late, so this shows nowhere else.
    tasks.every(60_000, 'hearing of decisions', () => storage.requireHearing());
    tasks.every(60_000, 'learning', (signal) => learnFromEndedSessions(storage, Date.now(), signal));
    tasks.every(600_000, 'housekeeping', (signal) => keepHouse(storage, Date.now(), signal));
    return {
      url: addressOf(app),
      apiKey,
      admin: new Administration(
        storage,
        async () => secret,
        (keyId) => services.keys.forget(keyId),
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

/** The key that was made for one run, or configured. */
interface OwnKey {
  readonly tenantId: number;
  readonly id: string;
  readonly expiresMs: number | null;
}

function provisionKey(
  storage: Storage,
  { tenant, apiKey }: Configuration,
): Promise<{ apiKey: string; key: OwnKey }> {
  return storage.writeAcross('administer', async ({ db }) => {
    const tenantId = await ensureTenant(db, tenant);
    const { key, stored } = await addKey(db, tenantId, { kind: 'test', name: 'startServer', key: apiKey });
    return { apiKey: key, key: { tenantId, id: stored.id, expiresMs: stored.expiresMs } };
  });
}

async function endKey(storage: Storage, { tenantId, id }: OwnKey): Promise<void> {
  await storage.write(tenantId, ({ db }) => expireKey(db, tenantId, id, Date.now()));
}

/** Where a client of this machine finds the server; one that listens on every address is found on the loopback. */
function addressOf(app: FastifyInstance): string {
  const { address, family, port } = app.server.address() as AddressInfo;
  if (family === 'IPv6') return `http://[${address === '::' ? '::1' : address}]:${port}`;
  return `http://${address === '0.0.0.0' ? '127.0.0.1' : address}:${port}`;
}
