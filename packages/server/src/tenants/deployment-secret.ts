import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Storage } from '../storage/storage.ts';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** The secret of a deployment and the keys derived from it, the same in all its processes. */
export class DeploymentSecret {
  readonly #encryptionKey: Buffer;
  /** Key that signs cursors. */
  readonly cursorKey: Buffer;
  /** Namespace for ids of events that the server writes; without it the ids cannot be predicted. */
  readonly eventIdKey: Buffer;
  /** Key that creates the CSRF tokens of people who are signed in. */
  readonly csrfKey: Buffer;
  /** Key that creates the tokens of buttons in channels. */
  readonly channelKey: Buffer;
  /** Seed of the key by which push services know this deployment (VAPID, RFC 8292). */
  readonly pushKeySeed: Buffer;
  /** Seeds of the test keys that `serve` prints. */
  readonly testKeySeeds: { readonly admin: Buffer; readonly agents: Buffer };
  /** Part of the default name of the logs, which reveals nothing about the secret. */
  readonly logNameId: string;
  readonly #logSecret: Buffer;
  /** Value for comparing secrets that reveals nothing about them. */
  readonly fingerprint: string;

  /** @param secret - at least 32 random characters */
  constructor(secret: string) {
    const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, 'actlog', purpose, 32));
    this.cursorKey = derive('cursor');
    this.eventIdKey = derive('event id').subarray(0, 16);
    this.csrfKey = derive('csrf');
    this.channelKey = derive('channel button');
    this.pushKeySeed = derive('push key');
    this.testKeySeeds = { admin: derive('test key admin'), agents: derive('test key agents') };
    this.fingerprint = derive('fingerprint').toString('hex');
    this.logNameId = derive('log name').subarray(0, 4).toString('hex');
    this.#logSecret = derive('log key');
    this.#encryptionKey = derive('encryption');
  }

  /** Returns the private key of the logs, derived from a separate secret, or by default from this one. */
  logKeySeed(logKey: string | undefined): Buffer {
    return logKey === undefined
      ? this.#logSecret
      : Buffer.from(hkdfSync('sha256', logKey, 'actlog', 'log key', 32));
  }

  /** Encrypts a text for the database. The same `context` must be given to decrypt it. */
  encrypt(text: string, context: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.#encryptionKey, nonce).setAAD(Buffer.from(context));
    return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
      'base64',
    );
  }

  /** Decrypts a text. @throws Error when it was altered, moved, or encrypted under another secret. */
  decrypt(encrypted: string, context: string): string {
    const bytes = Buffer.from(encrypted, 'base64');
    const decipher = createDecipheriv(algorithm, this.#encryptionKey, bytes.subarray(0, nonceBytes))
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(-tagBytes));
    const text = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  }
}

/** Returns the given secret of a deployment, or else the one in the file beside its database. */
export function deploymentSecret({
  secret,
  database,
}: {
  readonly secret?: string | undefined;
  readonly database: string;
}): DeploymentSecret {
  return new DeploymentSecret(secret ?? (database === ':memory:' ? randomSecret() : secretBeside(database)));
}

/** Minimum length of a secret, in characters. */
export const minSecretLength = 32;

/**
 * Returns the secret in the file beside a database, which is created if missing. A copy of the database alone does not
 * reveal its webhook secrets, and restoring a backup needs this file too.
 *
 * @throws Error when the file does not contain a secret, as after a full disk; its content could be guessed.
 */
export function secretBeside(databaseFile: string): string {
  const path = `${databaseFile}.secret`;
  try {
    return secretIn(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  // Written completely and then linked, so that several servers starting at once all read the same secret.
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    // `as` makes the write synchronous; `fsync` is unavailable under Node's permission model.
    writeFileSync(temporary, `${randomSecret()}\n`, { mode: 0o600, flag: 'as' });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const message = `${path} cannot be written (${code}): the folder of the database must exist and be writable.`;
    throw new Error(message, { cause });
  }
  try {
    linkSync(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(temporary);
  }
  return secretIn(path);
}

function secretIn(path: string): string {
  const secret = readFileSync(path, 'utf8').trim();
  if (secret.length >= minSecretLength) return secret;
  throw new Error(
    `${path} does not contain a secret of at least ${minSecretLength} characters. Restore it from a backup, or remove the file to create a new secret; webhooks must then be created again.`,
  );
}

/** Returns a new secret of 256 bits. */
export function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Checks that all servers of a shared database have the same secret. With another secret, a server could read neither
 * cursors from other servers nor secrets of webhooks.
 *
 * @throws Error when the database was set up with another secret.
 */
export async function checkSecret(storage: Storage, secret: DeploymentSecret): Promise<void> {
  if (!storage.isShared) return;
  const stored = await storage.writeAcross('administer', async ({ db }) => {
    await db
      .insertInto('deployment')
      .values({ name: 'secret', value: secret.fingerprint })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return db.selectFrom('deployment').select('value').where('name', '=', 'secret').executeTakeFirst();
  });
  if (stored?.value === secret.fingerprint) return;
  throw new Error(
    'The database was set up with another secret. Use the "secret" (ACTLOG_SECRET) of the other servers.',
  );
}
