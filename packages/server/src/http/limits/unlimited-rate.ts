import type { Caller } from '../../keys/caller.ts';
import { keepNewest } from '../../lib/keep-newest.ts';
import { storageOutage } from '../../storage/outage.ts';
import type { Storage } from '../../storage/storage.ts';
import { recordKeyUse } from '../../storage/stores/key-store.ts';
import type { RequestRate } from './rate-limiter.ts';

/** Minimum time between two updates of a key's last use, in milliseconds. */
const minUpdateIntervalMs = 1000;

/** Maximum number of keys whose last update is remembered. */
const maxKeys = 10_000;

const noHeaders: Record<string, string> = {};

/** Admits every request, and records the use of its key, which otherwise the rate limiter does. */
export class UnlimitedRate implements RequestRate {
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
