import type { Socket } from 'node:net';
import { headers, type Scope } from '@actlog/protocol';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { ApiError } from '../lib/api-error.ts';
import type { Caller, Role } from '../tenants/caller.ts';
import { type KeyRing, keyCacheMs } from '../tenants/key-ring.ts';
import { allScopes } from '../tenants/provisioning.ts';
import type { Users } from '../users/users.ts';
import type { FailedAuthentications, RequestRate } from './limits/rate-limiter.ts';
import type { RequestMemory } from './limits/request-memory.ts';
import { reserveBody } from './request-input.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated caller; set before anything else of the request is processed. */
    caller: Caller | undefined;
  }
}

/** Access rule and memory limit of a route. */
export interface GateRule {
  /**
   * Checks the caller before the body is read.
   *
   * @throws ApiError to reject the request.
   */
  check(caller: Caller): void;
  /** `true` to accept people who are signed in, not only keys. Default: `false`. */
  readonly acceptsUsers?: boolean;
  /** Limits the memory of the route's request bodies until they are responded to. */
  readonly memory: RequestMemory;
  /** Limit of the route's request bodies, in bytes. Default: that of the endpoints. */
  readonly maxBodyBytes?: number;
}

/**
 * The gate for all requests that need a caller. It authenticates a request, counts it against the caller's rate, applies
 * the route's rule and reserves memory, in this order. Only then is the body read.
 */
export class RequestGate {
  readonly #authentication: Authentication;
  readonly #users: Users;
  readonly #requestRate: RequestRate;

  constructor(keys: KeyRing, users: Users, requestRate: RequestRate, failures: FailedAuthentications) {
    this.#authentication = new Authentication(keys, users, failures);
    this.#users = users;
    this.#requestRate = requestRate;
  }

  /** `true` if the key or the sign-in of a caller is still valid; it may have ended since the request was admitted. */
  isCurrent(caller: Caller): Promise<boolean> {
    return this.#authentication.isCurrent(caller);
  }

  /** Returns the `onRequest` hook of a route. */
  hook(rule: GateRule): onRequestHookHandler {
    const authentication = this.#authentication;
    const users = this.#users;
    const requestRate = this.#requestRate;
    /** Admits a request, or throws when its caller may not make it or there is no memory for it. */
    const admit = (
      request: FastifyRequest,
      reply: FastifyReply,
      caller: Caller,
      allowance: Record<string, string>,
    ) => {
      void reply.headers(allowance);
      request.caller = caller;
      rule.check(caller);
      reserveBody(request, rule.memory, rule.maxBodyBytes);
    };
    return (request, reply, done) => {
      try {
        users.proxy?.screen(request);
      } catch (error) {
        return done(error as Error);
      }
      // The common request needs no database and no turn of the event loop.
      const caller = authentication.remembered(request);
      const allowance = caller && requestRate.takeFromStock(caller);
      if (caller && allowance) {
        try {
          admit(request, reply, caller, allowance);
        } catch (error) {
          return done(error as Error);
        }
        return done();
      }
      authentication
        .caller(request, rule.acceptsUsers ?? false)
        .then(async (found) => {
          admit(request, reply, found, await requestRate.take(found));
        })
        .then(() => done(), done);
    };
  }
}

const bearer = /^bearer +([^\s]+)$/i;

/** The caller of a connection's last request, with its `Authorization` header. */
interface Remembered {
  readonly header: string;
  readonly caller: Caller;
  readonly atMs: number;
  readonly generation: number;
}

/** Property of a socket with its last caller. With thousands of connections, a map would miss the processor's cache. */
const remembered = Symbol('remembered caller');

type Connection = Socket & { [remembered]?: Remembered };

/** Authenticates requests by API key, and requests without one by the person who is signed in. */
class Authentication {
  readonly #keys: KeyRing;
  readonly #users: Users;
  readonly #failures: FailedAuthentications;

  constructor(keys: KeyRing, users: Users, failures: FailedAuthentications) {
    this.#keys = keys;
    this.#users = users;
    this.#failures = failures;
  }

  /**
   * Returns the caller if the previous request of the same connection had the same header moments ago. A connection is
   * only compared with what it sent itself, so the comparison reveals nothing.
   */
  remembered(request: FastifyRequest): Caller | undefined {
    const last = (request.raw.socket as Connection)[remembered];
    if (last === undefined || last.header !== request.headers.authorization) return undefined;
    const isFresh =
      Math.abs(Date.now() - last.atMs) < keyCacheMs && last.generation === this.#keys.generation;
    return isFresh ? last.caller : undefined;
  }

  /**
   * Returns the caller of a request. A valid key is accepted however many failures its address has.
   *
   * @param acceptsUsers - `true` to accept people who are signed in besides keys
   * @throws ApiError `AUTHENTICATION_FAILED`; `RATE_LIMITED` when the client's address has failed too often;
   *   `PERMISSION_DENIED` for a request of a person's browser that another site may have sent.
   */
  async caller(request: FastifyRequest, acceptsUsers: boolean): Promise<Caller> {
    const header = request.headers[headers.authorization];
    if (header === undefined && acceptsUsers) {
      const caller = await this.#users.caller(request);
      if (caller) return caller;
    }
    return this.#callerOfKey(request, header ?? '');
  }

  /** `true` if the key or the sign-in of a caller is still valid; it may have ended since the request was admitted. */
  isCurrent(caller: Caller): Promise<boolean> {
    return caller.keyId === undefined ? this.#users.isCurrent(caller) : this.#keys.isCurrent(caller.keyId);
  }

  async #callerOfKey(request: FastifyRequest, header: string): Promise<Caller> {
    const { generation } = this.#keys;
    const [, key] = bearer.exec(header) ?? [];
    const caller = key === undefined ? undefined : await this.#keys.authenticate(key);
    if (!caller) throw this.#failure(request);
    (request.raw.socket as Connection)[remembered] = { header, caller, atMs: Date.now(), generation };
    return caller;
  }

  #failure(request: FastifyRequest): ApiError {
    const retryAfterMs = this.#failures.count(request);
    if (retryAfterMs === 0) return authenticationFailed();
    return new ApiError(
      'RATE_LIMITED',
      'Too many requests with an invalid or missing API key came from this address. Use a valid key.',
      { retryAfterSeconds: retryAfterMs / 1000 },
    );
  }
}

/** Returns the error for a missing, wrong or expired key; the cases are indistinguishable. */
export function authenticationFailed(): ApiError {
  return new ApiError('AUTHENTICATION_FAILED', 'The API key is invalid or missing.', {
    headers: { 'www-authenticate': 'Bearer' },
  });
}

/** @throws ApiError `PERMISSION_DENIED` when the caller lacks the scope. */
export function requireScope(caller: Caller, scope: Scope): void {
  if (caller.scopes.has(scope)) return;
  if (caller.user) throw roleLacks(caller.user.role, `the scope "${scope}"`);
  throw new ApiError(
    'PERMISSION_DENIED',
    `The API key lacks the scope "${scope}". Use a key with this scope.`,
  );
}

/** @throws ApiError `PERMISSION_DENIED` when the caller lacks any scope. */
export function requireEveryScope(caller: Caller): void {
  const missing = allScopes.filter((scope) => !caller.scopes.has(scope));
  if (missing.length === 0) return;
  if (caller.user) throw roleLacks(caller.user.role, 'every scope');
  const named = missing.map((scope) => `"${scope}"`).join(', ');
  throw new ApiError(
    'PERMISSION_DENIED',
    `The API key lacks the ${missing.length === 1 ? 'scope' : 'scopes'} ${named}, and this request requires every scope. ` +
      'Use a key with all scopes.',
  );
}

function roleLacks(role: Role, needed: string): ApiError {
  return new ApiError(
    'PERMISSION_DENIED',
    `This request requires ${needed}, which the role "${role}" does not have. Ask an administrator for another role.`,
  );
}
