import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import * as z from 'zod';
import { noSuchEndpoint } from '../http/api-error.ts';
import { releaseBody } from '../http/json-body.ts';
import { jsonType } from '../http/mount.ts';
import { validator } from '../http/validation.ts';
import type { Caller } from '../keys/key-ring.ts';
import type { Services } from '../services.ts';

/** A request of the console that was let in. */
export interface ConsoleCall {
  readonly caller: Caller;
  /** The `:id` of the path; empty where the path has none. */
  readonly id: string;
  /** Not validated yet; undefined when there is none. */
  readonly body: unknown;
  /** Its lines carry the id of the request. */
  readonly log: FastifyBaseLogger;
}

/** A route that only the console asks for. It has no row in the endpoint table, and is not in `/openapi.json`. */
export interface ConsoleRoute {
  readonly method: 'GET' | 'POST';
  /** Below the folder that the routes are mounted in. */
  readonly path: string;
  /** Status of the answer when all went well. */
  readonly success: 200 | 201;
  /** Looks at who calls, before the body is read. @throws ApiError to refuse the request. */
  check(caller: Caller): void;
  /** Returns the answer. @throws ApiError for all that the caller is told. */
  handle(call: ConsoleCall): Promise<object>;
}

const noQuery = validator('query', z.strictObject({}));

/** Mounts a route of the console behind the entrance that all requests with a key come in by. */
export function mountConsoleRoute(app: FastifyInstance, services: Services, route: ConsoleRoute): void {
  app.route({
    method: route.method,
    url: route.path,
    onRequest: services.entrance.hook({
      check: (caller) => route.check(caller),
      memory: services.bodyMemory,
    }),
    handler: async (request, reply) => {
      const { caller, body, log } = request;
      if (!caller) throw new Error('The request was not authenticated.');
      const { id = '' } = request.params as { id?: string };
      if (id === '' && route.path.includes(':id')) throw noSuchEndpoint();
      noQuery(request.query);
      const answer = await route.handle({ caller, id, body, log });
      releaseBody(request);
      return reply.code(route.success).type(jsonType).send(JSON.stringify(answer));
    },
  });
}
