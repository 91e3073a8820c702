import type { FastifyBaseLogger } from 'fastify';
import type { Metrics } from '../observability/metrics.ts';
import { appendPending, lockLog, logHead } from '../storage/log/tenant-log.ts';
import type { Storage } from '../storage/storage.ts';
import { fieldChanges, recordUnlimited, serverItself } from '../tenants/audit-log.ts';
import type { DeploymentSecret } from '../tenants/deployment-secret.ts';
import { type LogKeySettings, LogKeys, originOf } from './log-keys.ts';
import { LogSequencer } from './log-sequencer.ts';
import { LogWitnesses, parseWitnesses } from './log-witnesses.ts';

/** Settings of the logs. */
export interface LogSettings extends LogKeySettings {
  readonly logWitnesses: readonly string[];
  readonly keepLog: boolean;
}

/** Observers of the logs. Both exist only once the server has been put together. */
export interface LogObservers {
  readonly metrics: () => Pick<Metrics, 'logged' | 'logRefused'> | undefined;
  readonly logger: () => Pick<FastifyBaseLogger, 'warn' | 'error'> | undefined;
}

/** The logs of the tenants: what appends to them, signs them and has them cosigned. */
export class ServerLog {
  readonly keys: LogKeys;
  readonly sequencer: LogSequencer;
  readonly witnesses: LogWitnesses;
  readonly #storage: Storage;

  /** @throws LogError `malformed` when the key of a witness is not valid */
  constructor(
    settings: LogSettings,
    storage: Storage,
    secret: DeploymentSecret,
    { metrics, logger }: LogObservers,
  ) {
    this.#storage = storage;
    this.keys = new LogKeys(settings, secret);
    this.sequencer = new LogSequencer({
      storage,
      isOn: settings.keepLog,
      onAppended: (entries, tenantId) => {
        metrics()?.logged(entries);
        this.witnesses.wake(tenantId);
      },
      onError: (err) => logger()?.error({ err }, 'the log could not be written; it is tried again'),
    });
    this.witnesses = new LogWitnesses({
      storage,
      keys: this.keys,
      witnesses: parseWitnesses(settings.logWitnesses),
      onRefused: (refused) => {
        metrics()?.logRefused();
        logger()?.error(
          refused,
          'a witness refuses the log: the database has lost or changed entries, as after the restore of an old backup',
        );
      },
      onError: (err) => logger()?.warn({ err }, 'a witness did not cosign; it is tried again'),
    });
  }

  /**
   * Begins to log what another server may have left.
   *
   * @throws Error when another server of the database signs with another key
   */
  async start(): Promise<void> {
    await this.keys.check(this.#storage);
    await this.#recordOrigin();
    this.sequencer.wake();
  }

  /**
   * Records in each log that its name or its key has changed, before anything else is appended under the new ones. So a log
   * names the one that it continues.
   */
  async #recordOrigin(): Promise<void> {
    const { names, publicKey } = this.keys;
    const current = { name: names, publicKey };
    const value = JSON.stringify(current);
    const row = 'log origin';
    const stored = await this.#storage.readAcross('administer', (db) =>
      db.selectFrom('deployment').select('value').where('name', '=', row).executeTakeFirst(),
    );
    if (stored?.value === value) return;
    const former = stored && (JSON.parse(stored.value) as typeof current);
    const tenants = former
      ? await this.#storage.readAcross('sweep', (db) =>
          db.selectFrom('tenants').select(['id', 'name']).where('deleted_ms', 'is', null).execute(),
        )
      : [];
    for (const tenant of tenants) {
      await this.#storage.write(tenant.id, async ({ db }) => {
        const before = { origin: originOf(former?.name ?? '', tenant), publicKey: former?.publicKey };
        const after = { origin: this.keys.origin(tenant), publicKey };
        if ((await logHead(db, tenant.id)).size === 0) return;
        await lockLog(db, tenant.id);
        await recordUnlimited(db, tenant.id, serverItself, {
          action: 'tenant.log_changed',
          target: { id: tenant.name, name: tenant.name },
          changes: fieldChanges(before, after, ['origin', 'publicKey']),
        });
        await appendPending(db, tenant.id, 'audit');
      });
    }
    // Last, so that a server that ends before records the change at its next start.
    await this.#storage.writeAcross('administer', ({ db }) =>
      db
        .insertInto('deployment')
        .values({ name: row, value })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
        .execute(),
    );
  }

  /** Logs what waits, as far as there is time, and does nothing more. */
  async close(): Promise<void> {
    await this.sequencer.close();
    await this.witnesses.close();
  }
}
