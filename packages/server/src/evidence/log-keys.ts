import { createHash } from 'node:crypto';
import {
  createKey,
  formatCheckpoint,
  formatNote,
  parseSignerKey,
  type SignerKey,
  signText,
  type VerifierKey,
} from '@actlog/log';
import { keepNewest } from '../lib/keep-newest.ts';
import type { LogHead } from '../storage/log/tenant-log.ts';
import type { Storage } from '../storage/storage.ts';
import type { DeploymentSecret } from '../tenants/deployment-secret.ts';

/** Settings of the log's keys. */
export interface LogKeySettings {
  /** Secret that the key is derived from. Default: the secret of the deployment. */
  readonly logKey?: string | undefined;
  /** Secret of the key before the last rotation, which signs too while it is set. */
  readonly previousLogKey?: string | undefined;
  /** Beginning of the names of all logs. Default: a name derived from the secret of the deployment. */
  readonly logName?: string | undefined;
}

/** Maximum tenants whose keys are remembered. */
const maxTenants = 1000;

/**
 * The keys that sign the logs of a deployment. The database has none of them, so whoever writes to it cannot sign. All
 * logs have the same Ed25519 key under their names.
 */
export class LogKeys {
  readonly #seeds: readonly Buffer[];
  readonly #name: string;
  readonly #keys = new Map<string, readonly SignerKey[]>();

  constructor({ logKey, previousLogKey, logName }: LogKeySettings, secret: DeploymentSecret) {
    const seeds = [secret.logKeySeed(logKey)];
    if (previousLogKey !== undefined) seeds.push(secret.logKeySeed(previousLogKey));
    this.#seeds = seeds;
    this.#name = logName ?? `actlog-${secret.logNameId}`;
  }

  /** Returns the name of a tenant's log. The number keeps it apart from a deleted tenant with the same name. */
  origin(tenant: LogTenant): string {
    return originOf(this.#name, tenant);
  }

  /** Beginning of the names of all logs. */
  get names(): string {
    return this.#name;
  }

  /** The public key of all logs: Base64 of its algorithm and the key, as it ends each verifier key. */
  get publicKey(): string {
    const [, , publicKey = ''] = this.verifierKeys({ id: 0, name: '' })[0]?.text.split('+') ?? [];
    return publicKey;
  }

  /** Returns the public keys of a tenant's log: the current one, and the previous one while it signs too. */
  verifierKeys(tenant: LogTenant): readonly VerifierKey[] {
    return this.#keysOf(tenant).map(({ verifierKey }) => verifierKey);
  }

  /** Signs the head of a tenant's log. The same head always gets the same signatures. */
  checkpoint(tenant: LogTenant, { size, root }: LogHead): string {
    const text = formatCheckpoint({ origin: this.origin(tenant), size, root, extensions: [] });
    return formatNote({ text, signatures: this.#keysOf(tenant).map((key) => signText(text, key)) });
  }

  /**
   * Checks that all servers of a shared database sign with the same key, or with this one's previous key.
   *
   * @throws Error when another server signs with another key
   */
  async check(storage: Storage): Promise<void> {
    if (!storage.isShared) return;
    const [current, previous] = this.#seeds.map((seed) =>
      createHash('sha256').update('fingerprint').update(seed).digest('hex'),
    );
    const isKnown = await storage.writeAcross('administer', async ({ db }) => {
      await db
        .insertInto('deployment')
        .values({ name: 'log key', value: current as string })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      const stored = await db
        .selectFrom('deployment')
        .select('value')
        .where('name', '=', 'log key')
        .executeTakeFirst();
      if (stored?.value === current) return true;
      if (previous === undefined || stored?.value !== previous) return false;
      await db
        .updateTable('deployment')
        .set({ value: current as string })
        .where('name', '=', 'log key')
        .execute();
      return true;
    });
    if (isKnown) return;
    throw new Error(
      'The logs of this database are signed with another key. Use the "logKey" (ACTLOG_LOG_KEY) of the other servers; to replace it, set the former one as "previousLogKey" (ACTLOG_PREVIOUS_LOG_KEY).',
    );
  }

  #keysOf(tenant: LogTenant): readonly SignerKey[] {
    const origin = this.origin(tenant);
    const known = this.#keys.get(origin);
    if (known) return known;
    const keys = this.#seeds.map((seed) => parseSignerKey(createKey(origin, 'log', { seed }).signerKey));
    keepNewest(this.#keys, origin, keys, maxTenants);
    return keys;
  }
}

/** Returns the name of a tenant's log, for a beginning of names. */
export function originOf(names: string, { id, name }: LogTenant): string {
  return `${names}/${encodeURIComponent(name)}/${id}`;
}

/** A tenant, by number and name. */
export interface LogTenant {
  readonly id: number;
  readonly name: string;
}
