import { keepNewest } from '../keep-newest.ts';
import type { Caller } from '../keys/key-ring.ts';
import { noteKeyUsed } from '../storage/key-store.ts';
import { storageOutage } from '../storage/outage.ts';
import type { Storage } from '../storage/storage.ts';
import type { RequestRate } from './rate-limiter.ts';

/** Milliseconds between notes that a key is used. */
const notedEveryMs = 1000;

/** Keys whose last note is remembered. */
const rememberedKeys = 10_000;

const noHeaders: Record<string, string> = {};

/** Lets every request in, and notes that its key is used: beside the rate of a key nobody else does. */
export class UnlimitedRate implements RequestRate {
  readonly #storage: Storage;
  readonly #notedMs = new Map<string, number>();

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  async take(caller: Caller): Promise<Record<string, string>> {
    const { tenantId, keyId } = caller;
    if (this.takeFromStock(caller)) return noHeaders;
    const nowMs = Date.now();
    keepNewest(this.#notedMs, keyId, nowMs, rememberedKeys);
    try {
      await this.#storage.write(tenantId, ({ db }) => noteKeyUsed(db, tenantId, keyId, nowMs));
    } catch (error) {
      // A database that takes no writes can still be read.
      if (storageOutage(error) === undefined) throw error;
    }
    return noHeaders;
  }

  takeFromStock({ keyId }: Caller): Record<string, string> | undefined {
    const notedMs = this.#notedMs.get(keyId);
    return notedMs !== undefined && Math.abs(Date.now() - notedMs) < notedEveryMs ? noHeaders : undefined;
  }
}
