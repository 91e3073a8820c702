import {
  consistencyProof,
  formatNote,
  LogError,
  parseCheckpoint,
  parseNote,
  parseVerifierKey,
  requestCosignature,
  type VerifierKey,
} from '@actlog/log';
import type { LogHead } from '../storage/log/tenant-log.ts';
import { logHead, tenantTiles } from '../storage/log/tenant-log.ts';
import type { Storage } from '../storage/storage.ts';
import type { Database } from '../storage/transaction.ts';
import type { LogKeys, LogTenant } from './log-keys.ts';

/** A witness that cosigns the logs. */
export interface LogWitness {
  readonly key: VerifierKey;
  /** Prefix of its `add-checkpoint`. */
  readonly url: string;
}

/** A state of a log as it is published: its size and root, and its checkpoint with all signatures. */
export interface SignedHead extends LogHead {
  readonly checkpoint: string;
}

/** Options for {@link LogWitnesses}. */
export interface LogWitnessesOptions {
  readonly storage: Storage;
  readonly keys: LogKeys;
  readonly witnesses: readonly LogWitness[];
  /** Called when a witness refuses a checkpoint, because it does not continue what the witness has cosigned. */
  readonly onRefused: (refused: { readonly tenantId: number; readonly reason: string }) => void;
  /** Called with the error of a witness that did not respond. */
  readonly onError: (error: unknown) => void;
}

/** Time limit for the response of a witness, in milliseconds. */
const witnessTimeoutMs = 5000;

/**
 * Parses the setting `logWitnesses`.
 *
 * @throws LogError `malformed` when the key of a witness is not valid
 */
export function parseWitnesses(texts: readonly string[]): LogWitness[] {
  return texts.map((text) => {
    const [key = '', url = ''] = text.split(' ');
    return { key: parseVerifierKey(key), url };
  });
}

/**
 * Sends the heads of logs to witnesses, and publishes what they have cosigned. With witnesses, a state that none of them
 * has cosigned is not published once one was: readers see the last cosigned one. A witness that refuses shows that the
 * database has lost or changed entries, as after the restore of an old backup.
 */
export class LogWitnesses {
  readonly #options: LogWitnessesOptions;
  /** Sizes that witnesses have cosigned last, by witness and tenant. */
  readonly #sizes = new Map<string, number>();
  readonly #running = new Map<number, Promise<void>>();
  readonly #again = new Set<number>();
  readonly #stopping = new AbortController();

  constructor(options: LogWitnessesOptions) {
    this.#options = options;
  }

  /** Returns the published state of a tenant's log. */
  async published(db: Database, tenant: LogTenant): Promise<SignedHead> {
    const { keys, witnesses } = this.#options;
    if (witnesses.length > 0) {
      const row = await db
        .selectFrom('log_cosigned')
        .select('note')
        .where('tenant_id', '=', tenant.id)
        .executeTakeFirst();
      if (row) {
        const { text, signatures } = parseNote(row.note);
        const { size, root } = parseCheckpoint(text);
        // The keys of the log may have changed since; those of the witnesses are kept.
        const own = parseNote(keys.checkpoint(tenant, { size, root }));
        const cosignatures = signatures.filter(({ name }) => witnesses.some(({ key }) => key.name === name));
        if (own.text === text) {
          const all = [...own.signatures, ...cosignatures];
          return { size, root, checkpoint: formatNote({ text, signatures: all }) };
        }
      }
    }
    const head = await logHead(db, tenant.id);
    return { ...head, checkpoint: keys.checkpoint(tenant, head) };
  }

  /** Sends the head of a tenant's log, unless it is being sent; then again afterwards. */
  wake(tenantId: number): void {
    if (this.#options.witnesses.length === 0 || this.#stopping.signal.aborted) return;
    if (this.#running.has(tenantId)) {
      this.#again.add(tenantId);
      return;
    }
    const round = this.#cosign(tenantId)
      .catch((error: unknown) => this.#options.onError(error))
      .finally(() => {
        this.#running.delete(tenantId);
        if (this.#again.delete(tenantId)) this.wake(tenantId);
      });
    this.#running.set(tenantId, round);
  }

  /** Sends the heads of all tenants that are not cosigned, as after an outage of a witness. */
  async wakeAll(): Promise<void> {
    if (this.#options.witnesses.length === 0) return;
    const behind = await this.#options.storage.readAcross('sweep', (db) =>
      db
        .selectFrom('log_heads')
        .leftJoin('log_cosigned', 'log_cosigned.tenant_id', 'log_heads.tenant_id')
        .select('log_heads.tenant_id')
        .where((where) =>
          where.or([
            where('log_cosigned.size', 'is', null),
            where('log_cosigned.size', '<', where.ref('log_heads.size')),
          ]),
        )
        .execute(),
    );
    for (const { tenant_id: tenantId } of behind) this.wake(tenantId);
  }

  /** Ends the requests, and sends nothing more. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running.values());
  }

  async #cosign(tenantId: number): Promise<void> {
    const { storage, keys, witnesses } = this.#options;
    const found = await storage.read(tenantId, async (db) => {
      const name = await db
        .selectFrom('tenants')
        .select('name')
        .where('id', '=', tenantId)
        .executeTakeFirst();
      return name && { tenant: { id: tenantId, ...name }, head: await logHead(db, tenantId) };
    });
    if (!found || found.head.size === 0) return;
    const { head } = found;
    const checkpoint = keys.checkpoint(found.tenant, head);
    const cosigned = await Promise.all(
      witnesses.map((witness) => this.#request(witness, tenantId, head.size, checkpoint)),
    );
    if (cosigned.includes('refused')) return;
    const lines = cosigned.flatMap((note) => (note === undefined ? [] : parseNote(note).signatures));
    const { text, signatures } = parseNote(checkpoint);
    const added = lines.filter(({ name }) => witnesses.some(({ key }) => key.name === name));
    if (added.length === 0) return;
    const row = { size: head.size, note: formatNote({ text, signatures: [...signatures, ...added] }) };
    await storage.write(tenantId, ({ db }) =>
      db
        .insertInto('log_cosigned')
        .values({ tenant_id: tenantId, ...row })
        .onConflict((conflict) =>
          // Another process may have stored a later state.
          conflict.column('tenant_id').doUpdateSet(row).where('log_cosigned.size', '<', row.size),
        )
        .execute(),
    );
  }

  /** Returns the checkpoint with the witness's signature; `undefined` if it did not respond. */
  async #request(
    { key, url }: LogWitness,
    tenantId: number,
    size: number,
    checkpoint: string,
  ): Promise<string | 'refused' | undefined> {
    const { storage, onRefused, onError } = this.#options;
    const place = `${tenantId} ${key.text}`;
    const refuse = (reason: string) => {
      onRefused({ tenantId, reason });
      return 'refused' as const;
    };
    try {
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const oldSize = this.#sizes.get(place) ?? 0;
        if (oldSize > size) {
          return refuse(`${key.name} has cosigned ${oldSize} entries, but the log has ${size}.`);
        }
        const proof =
          oldSize === 0 || oldSize === size
            ? []
            : await storage.read(tenantId, (db) =>
                consistencyProof(tenantTiles(db, tenantId), oldSize, size),
              );
        const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(witnessTimeoutMs)]);
        const response = await requestCosignature(url, { oldSize, proof, checkpoint }, [key], { signal });
        if ('cosigned' in response) {
          this.#sizes.set(place, size);
          return response.cosigned;
        }
        this.#sizes.set(place, response.knownSize);
      }
    } catch (error) {
      if (this.#stopping.signal.aborted) return undefined;
      if (LogError.is(error) && error.code === 'untrusted' && / with 422:/.test(error.message)) {
        return refuse(error.message);
      }
      onError(error);
    }
    return undefined;
  }
}
