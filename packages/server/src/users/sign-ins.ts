import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../lib/api-error.ts';
import { newIdentifier } from '../lib/identifier.ts';
import { keepNewest } from '../lib/keep-newest.ts';
import { storageOutage } from '../storage/outage.ts';
import type { Storage } from '../storage/storage.ts';
import { addStoredResponse } from '../storage/stores/idempotent-response-store.ts';
import { type PersonRow, savePerson } from '../storage/stores/people-store.ts';
import {
  dropSignIn,
  findSignIn,
  insertSignIn,
  recordSignInUse,
  type SignInRow,
} from '../storage/stores/sign-in-store.ts';
import type { Database } from '../storage/transaction.ts';
import { type Caller, type Role, scopesOfRole } from '../tenants/caller.ts';
import type { DeploymentSecret } from '../tenants/deployment-secret.ts';
import { keyCacheMs } from '../tenants/key-ring.ts';

/** Bytes of the secret in a cookie. */
const secretBytes = 32;

/** Maximum number of cached sign-ins. */
const maxCached = 10_000;

/** Resolution at which the last use of a sign-in is stored, in milliseconds. */
const useResolutionMs = 60_000;

/** Lifetimes of sign-ins, in milliseconds. */
export interface SignInLifetimes {
  /** Time without a request after which a sign-in ends. */
  readonly idleMs: number;
  /** Time after which a sign-in ends at the latest. */
  readonly maxMs: number;
}

/** A person who has proved who they are. */
export interface NewSignIn {
  readonly tenantId: number;
  /** Permanent id, `usr_…`. */
  readonly userId: string;
  readonly name: string;
  readonly role: Role;
  readonly groups: readonly string[];
  /** Verified email address; `undefined` for none. */
  readonly email: string | undefined;
  /** ID token of the provider, to sign out there too. */
  readonly idToken: string | undefined;
}

interface CachedSignIn {
  readonly row: SignInRow;
  readonly caller: Caller;
  readonly readMs: number;
}

/** People who are signed in by a cookie. The database stores a digest of the cookie's secret, and all processes share it. */
export class SignIns {
  readonly #storage: Storage;
  readonly #secret: DeploymentSecret;
  readonly lifetimes: SignInLifetimes;
  readonly #cached = new Map<string, CachedSignIn>();
  readonly #usedMs = new Map<string, number>();

  constructor(storage: Storage, secret: DeploymentSecret, lifetimes: SignInLifetimes) {
    this.#storage = storage;
    this.#secret = secret;
    this.lifetimes = lifetimes;
  }

  /** Marks the attempt with this state as used, on every server of the deployment. Returns `false` if it already was. */
  claimAttempt(tenantId: number, state: string): Promise<boolean> {
    return this.#storage.write(tenantId, ({ db }) =>
      addStoredResponse(db, {
        tenant_id: tenantId,
        endpoint: 'console sign-in',
        key: hash('sha256', state),
        request_digest: '',
        status: 0,
        response: '',
        created_ms: Date.now(),
      }),
    );
  }

  /**
   * Stores a new sign-in. Returns the secret for the cookie, which exists only in the return value.
   *
   * @param onCreated - runs in the same transaction
   */
  async create(
    { tenantId, userId, name, role, groups, email, idToken }: NewSignIn,
    onCreated: (db: Database) => Promise<void>,
  ): Promise<string> {
    const secret = randomBytes(secretBytes).toString('base64url');
    const nowMs = Date.now();
    const digest = digestOf(secret);
    const row = {
      tenant_id: tenantId,
      id: newIdentifier('sin'),
      digest,
      user_id: userId,
      name,
      role,
      id_token: idToken === undefined ? null : this.#secret.encrypt(idToken, contextOf(digest)),
      member_of: JSON.stringify(groups),
      created_ms: nowMs,
      last_used_ms: nowMs,
      expires_ms: nowMs + this.lifetimes.maxMs,
    };
    await this.#storage.write(tenantId, async ({ db }) => {
      await insertSignIn(db, row);
      await savePerson(db, personRow({ tenantId, userId, name, email, groups }, nowMs));
      await onCreated(db);
    });
    return secret;
  }

  /** Returns the caller of a cookie's secret, or `undefined` if it is unknown or has ended. Records the use. */
  async find(secret: string): Promise<Caller | undefined> {
    const found = await this.#lookUp(digestOf(secret));
    if (!found || this.#hasEnded(found.row)) return undefined;
    await this.#recordUse(found.row);
    return found.caller;
  }

  /** `true` if a sign-in has not ended; it may have since the request was admitted. */
  async isCurrent(digest: string): Promise<boolean> {
    const found = await this.#lookUp(digest);
    return found !== undefined && !this.#hasEnded(found.row);
  }

  /**
   * Ends a sign-in at once, in other processes within a second.
   *
   * @param onEnded - runs in the same transaction if there was such a sign-in
   * @returns the ID token of its provider, or `undefined` if there is none; `isKnown` is `false` for an unknown sign-in
   */
  async end(
    tenantId: number,
    id: string,
    onEnded: (db: Database, row: SignInRow) => Promise<void>,
  ): Promise<{ readonly isKnown: boolean; readonly idToken?: string }> {
    const row = await this.#storage.write(tenantId, async ({ db }) => {
      const dropped = await dropSignIn(db, tenantId, id);
      if (dropped) await onEnded(db, dropped);
      return dropped;
    });
    if (!row) return { isKnown: false };
    this.#cached.delete(row.digest);
    this.#usedMs.delete(row.id);
    if (row.id_token === null) return { isKnown: true };
    return { isKnown: true, idToken: this.#secret.decrypt(row.id_token, contextOf(row.digest)) };
  }

  async #lookUp(digest: string): Promise<CachedSignIn | undefined> {
    const cached = this.#cached.get(digest);
    if (cached && Math.abs(Date.now() - cached.readMs) < keyCacheMs) return cached;
    const readMs = Date.now();
    const row = await this.#storage.readAcross('authenticate', (db) => findSignIn(db, digest));
    this.#cached.delete(digest);
    if (!row) return undefined;
    const fresh = { row, caller: this.#callerOf(row), readMs };
    keepNewest(this.#cached, digest, fresh, maxCached);
    return fresh;
  }

  #callerOf({ tenant_id, id, digest, user_id, name, role, member_of, expires_ms }: SignInRow): Caller {
    return {
      tenantId: tenant_id,
      id: user_id,
      keyId: undefined,
      keyName: undefined,
      agents: undefined,
      isShared: true,
      requiresIdentity: false,
      scopes: new Set(scopesOfRole[role]),
      user: {
        name,
        role,
        groups: JSON.parse(member_of) as string[],
        csrfToken: csrfToken(this.#secret, digest),
        signIn: { id, digest, expiresMs: expires_ms },
      },
    };
  }

  #hasEnded({ id, expires_ms, last_used_ms }: SignInRow): boolean {
    const nowMs = Date.now();
    const usedMs = Math.max(last_used_ms, this.#usedMs.get(id) ?? 0);
    return expires_ms <= nowMs || usedMs + this.lifetimes.idleMs <= nowMs;
  }

  async #recordUse(row: SignInRow): Promise<void> {
    const nowMs = Date.now();
    const resolutionMs = Math.min(useResolutionMs, this.lifetimes.idleMs / 4);
    if (nowMs - Math.max(row.last_used_ms, this.#usedMs.get(row.id) ?? 0) < resolutionMs) return;
    keepNewest(this.#usedMs, row.id, nowMs, maxCached);
    try {
      await this.#storage.write(row.tenant_id, ({ db }) => recordSignInUse(db, row, nowMs));
    } catch (error) {
      // A read-only database can still be read.
      if (storageOutage(error) === undefined) throw error;
    }
  }
}

/** Returns the stored form of a person who signs in. */
export function personRow(
  {
    tenantId,
    userId,
    name,
    email,
    groups,
  }: Pick<NewSignIn, 'tenantId' | 'userId' | 'name' | 'email' | 'groups'>,
  nowMs: number,
): PersonRow {
  return {
    tenant_id: tenantId,
    id: userId,
    name,
    email: email?.trim().normalize('NFC').toLowerCase() ?? null,
    member_of: JSON.stringify(groups),
    seen_ms: nowMs,
  };
}

function digestOf(secret: string): string {
  return hash('sha256', secret);
}

function contextOf(digest: string): string {
  return `sign-in:${digest}`;
}

/** Header that contains the CSRF token. Another site cannot set it without the server's consent (CORS). */
const csrfHeader = 'x-actlog-csrf';

/** Methods that change nothing (RFC 9110, section 9.2.1). */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Returns the CSRF token of a sign-in, or of a person whom a proxy names. */
export function csrfToken({ csrfKey }: DeploymentSecret, subject: string): string {
  return createHmac('sha256', csrfKey).update(subject).digest('base64url');
}

/**
 * Checks that a request that changes something comes from the console, not from another site that the person's browser
 * shows. The browser adds cookies to such requests as well.
 *
 * @param origin - origin of the server's public URL
 * @param token - the person's CSRF token
 * @throws ApiError `PERMISSION_DENIED`.
 */
export function requireOwnOrigin({ method, headers }: FastifyRequest, origin: string, token: string): void {
  if (safeMethods.has(method)) return;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') {
    throw refused('sec-fetch-site', 'is another site; send the request from the console');
  }
  if (headers.origin !== undefined && headers.origin !== origin) {
    throw refused('origin', `is not that of the server; open the console at ${origin}`);
  }
  const given = Buffer.from(String(headers[csrfHeader] ?? ''));
  const expected = Buffer.from(token);
  if (given.length === expected.length && timingSafeEqual(given, expected)) return;
  throw refused(csrfHeader, 'must be the CSRF token of the sign-in; reload the console');
}

function refused(header: string, message: string): ApiError {
  return new ApiError('PERMISSION_DENIED', `The request was not sent by the console: ${header} ${message}.`, {
    details: [{ path: `headers.${header}`, code: 'csrf', message }],
  });
}
