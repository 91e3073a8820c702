import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Caller, KeyRing } from '../keys/key-ring.ts';
import { Authentication } from './authentication.ts';
import { reserveBody } from './json-body.ts';
import type { FailedAuthentications } from './limits/failed-authentications.ts';
import type { RequestRate } from './limits/rate-limiter.ts';
import type { RequestMemory } from './limits/request-memory.ts';

/** Access rule and memory limit of a route. */
export interface GateRule {
  /**
   * Checks the caller before the body is read.
   *
   * @throws ApiError to reject the request.
   */
  check(caller: Caller): void;
  /** Limits the memory of the route's request bodies until they are responded to. */
  readonly memory: RequestMemory;
  /** Limit of the route's request bodies, in bytes. Default: that of the endpoints. */
  readonly maxBodyBytes?: number;
}

/**
 * The gate for all requests that need a key. It authenticates a request, counts it against the rate of its key, applies
 * the route's rule and reserves memory, in this order. Only then is the body read.
 */
export class RequestGate {
  readonly #authentication: Authentication;
  readonly #requestRate: RequestRate;

  constructor(keys: KeyRing, requestRate: RequestRate, failures: FailedAuthentications) {
    this.#authentication = new Authentication(keys, failures);
    this.#requestRate = requestRate;
  }

  /** Returns the `onRequest` hook of a route. */
  hook(rule: GateRule): onRequestHookHandler {
    const authentication = this.#authentication;
    const requestRate = this.#requestRate;
    /** Admits a request, or throws when its key may not make it or there is no memory for it. */
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
        .caller(request)
        .then(async (found) => {
          admit(request, reply, found, await requestRate.take(found));
        })
        .then(() => done(), done);
    };
  }
}
