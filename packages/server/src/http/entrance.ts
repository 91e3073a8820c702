import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Caller, KeyRing } from '../keys/key-ring.ts';
import { Authentication } from './authentication.ts';
import { holdBody } from './json-body.ts';
import type { RequestRate } from './rate-limiter.ts';
import type { RequestMemory } from './request-memory.ts';

/** Whom a route lets in, and what bounds its requests. */
export interface EntranceRule {
  /**
   * Looks at who calls, before the body is read.
   *
   * @throws ApiError to refuse the request.
   */
  check(caller: Caller): void;
  /** Bounds what the bodies of its requests take until they are answered. */
  readonly memory: RequestMemory;
}

/**
 * The one way in for requests that need a key: each is authenticated, counted against the rate of its key, held
 * against the route's rule and given memory, in this order, and only then is its body read.
 */
export class Entrance {
  readonly #authentication: Authentication;
  readonly #requestRate: RequestRate;

  constructor(keys: KeyRing, requestRate: RequestRate) {
    this.#authentication = new Authentication(keys);
    this.#requestRate = requestRate;
  }

  /** The hook that stands before a route, to be its `onRequest`. */
  hook(rule: EntranceRule): onRequestHookHandler {
    const authentication = this.#authentication;
    const requestRate = this.#requestRate;
    /** Lets a request in, or says that its key may not or that there is no room for it. */
    const admit = (
      request: FastifyRequest,
      reply: FastifyReply,
      caller: Caller,
      allowance: Record<string, string>,
    ) => {
      void reply.headers(allowance);
      request.caller = caller;
      rule.check(caller);
      holdBody(request, rule.memory);
    };
    return (request, reply, done) => {
      // The common request needs nothing from the database, and takes no turn of the event loop.
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
