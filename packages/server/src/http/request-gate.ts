import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Caller } from '../keys/caller.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { Users } from '../users/users.ts';
import { Authentication } from './authentication.ts';
import { reserveBody } from './json-body.ts';
import type { FailedAuthentications, RequestRate } from './limits/rate-limiter.ts';
import type { RequestMemory } from './limits/request-memory.ts';

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
        users.screen(request);
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
