import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import * as z from 'zod';
import { releaseBody } from '../http/json-body.ts';
import { jsonType, responsePayload } from '../http/mount.ts';
import { validator } from '../http/validation.ts';
import type { Caller } from '../keys/key-ring.ts';
import { noSuchEndpoint } from '../lib/api-error.ts';
import type { Services } from '../services.ts';

/** An admitted request of the console. */
export interface ConsoleCall {
  readonly caller: Caller;
  /** `:id` of the path; empty if the path has none. */
  readonly id: string;
  /** Body, not yet validated; `undefined` for none. */
  readonly body: unknown;
  /** Logger whose lines contain the request id. */
  readonly log: FastifyBaseLogger;
}

/** A route for the console only. It is not in the endpoint table or in `/openapi.json`. */
export interface ConsoleRoute {
  readonly method: 'GET' | 'POST';
  /** Path below the prefix of the console's API. */
  readonly path: string;
  /** Status of a successful response. */
  readonly success: 200 | 201;
  /** Checks the caller before the body is read. @throws ApiError to reject the request. */
  check(caller: Caller): void;
  /** Returns the response body. @throws ApiError for an error response. */
  handle(call: ConsoleCall): Promise<object>;
}

const noQuery = validator('query', z.strictObject({}));

/** Mounts a route of the console behind the gate for requests with a key. */
export function mountConsoleRoute(app: FastifyInstance, services: Services, route: ConsoleRoute): void {
  app.route({
    method: route.method,
    url: route.path,
    onRequest: services.requestGate.hook({
      check: (caller) => route.check(caller),
      memory: services.bodyMemory,
    }),
    handler: async (request, reply) => {
      const { caller, body, log } = request;
      if (!caller) throw new Error('The request was not authenticated.');
      const { id = '' } = request.params as { id?: string };
      if (id === '' && route.path.includes(':id')) throw noSuchEndpoint();
      noQuery(request.query);
      services.responseMemory.requireRoom(caller.tenantId, route.path);
      const payload = responsePayload(await route.handle({ caller, id, body, log }));
      releaseBody(request);
      services.responseMemory.force(caller.tenantId, route.path, payload.length, reply.raw);
      return reply.code(route.success).type(jsonType).send(payload);
    },
  });
}
