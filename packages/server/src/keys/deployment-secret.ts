import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** The one secret of a deployment, and what is derived from it: the same in all its processes. */
export class DeploymentSecret {
  readonly #encryptionKey: Buffer;
  /** Signs cursors. */
  readonly cursorKey: Buffer;
  /** Makes ids of events that the server writes, which nobody else can foresee. */
  readonly eventIdKey: Buffer;
  /** Tells two secrets apart, and nothing else about them. */
  readonly fingerprint: string;

  /** `secret` has at least 32 characters of randomness. */
  constructor(secret: string) {
    const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, 'actlog', purpose, 32));
    this.cursorKey = derive('cursor');
    this.eventIdKey = derive('event id').subarray(0, 16);
    this.fingerprint = derive('fingerprint').toString('hex');
    this.#encryptionKey = derive('encryption');
  }

  /** Encrypts what must not lie open in the database. `context` says what it is, and must be given to decrypt. */
  encrypt(text: string, context: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.#encryptionKey, nonce).setAAD(Buffer.from(context));
    return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
      'base64',
    );
  }

  /** Undoes `encrypt`. @throws Error when the text was altered, moved, or encrypted under another secret. */
  decrypt(encrypted: string, context: string): string {
    const bytes = Buffer.from(encrypted, 'base64');
    const decipher = createDecipheriv(algorithm, this.#encryptionKey, bytes.subarray(0, nonceBytes))
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(-tagBytes));
    const text = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  }
}

/** The secret of a deployment: the one that is given, else the one that lies beside its database. */
export function deploymentSecret({
  secret,
  database,
}: {
  readonly secret?: string | undefined;
  readonly database: string;
}): DeploymentSecret {
  return new DeploymentSecret(secret ?? (database === ':memory:' ? randomSecret() : secretBeside(database)));
}

/** Characters that a secret has at least. */
export const shortestSecret = 32;

/**
 * The secret that lies beside a database file, made when there is none. Whoever copies the database alone cannot
 * read the webhook secrets in it; whoever restores a backup needs this file too.
 *
 * @throws Error when the file holds no secret, as after a disk that was full: anyone could guess what is in it.
 */
export function secretBeside(databaseFile: string): string {
  const path = `${databaseFile}.secret`;
  try {
    return secretIn(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  // Written whole and then linked, so that of several servers that start at once all read the same secret.
  const own = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    // On the disk when it returns, and without `fsync`, which Node's permission model does not have.
    writeFileSync(own, `${randomSecret()}\n`, { mode: 0o600, flag: 'as' });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const message = `${path} cannot be written (${code}): the folder of the database has to exist and to be writable.`;
    throw new Error(message, { cause });
  }
  try {
    linkSync(own, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(own);
  }
  return secretIn(path);
}

function secretIn(path: string): string {
  const secret = readFileSync(path, 'utf8').trim();
  if (secret.length >= shortestSecret) return secret;
  throw new Error(
    `${path} does not hold the secret of at least ${shortestSecret} characters. Put it back from a backup, or remove the file to have a new secret; webhooks then have to be made anew.`,
  );
}

/** A new secret of 256 bits. */
export function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}
