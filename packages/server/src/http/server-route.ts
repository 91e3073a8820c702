import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from 'fastify';
import * as z from 'zod';
import { noSuchEndpoint } from '../lib/api-error.ts';
import type { Caller } from '../tenants/caller.ts';
import { disconnectedSignal, jsonType, responsePayload, type ServingParts } from './mount.ts';
import { releaseBody, validator } from './request-input.ts';

const noQuery = z.strictObject({});

/** An admitted request to a route that the server adds to the specification. */
export interface ServerCall<Query extends z.ZodObject = typeof noQuery> {
  readonly caller: Caller;
  /** `:id` of the path; empty if the path has none. */
  readonly id: string;
  readonly query: z.output<Query>;
  /** Body, not yet validated; `undefined` for none. */
  readonly body: unknown;
  /** Returns a signal that aborts when the caller disconnects or has the whole response. */
  disconnected(): AbortSignal;
  /** Returns a request header, or `undefined` if there is none. */
  header(name: string): string | undefined;
  /** Logger whose lines contain the request id. */
  readonly log: FastifyBaseLogger;
}

/** A route that the server adds to the specification. It is not in the endpoint table or in `/openapi.json`. */
export interface ServerRoute<Query extends z.ZodObject = typeof noQuery> {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path below the prefix of the API. */
  readonly path: string;
  /** Status of a successful response. */
  readonly success: 200 | 201;
  /** Schema of the query. Default: no parameter. */
  readonly query?: Query;
  /** `true` if the body has arguments of a call, of which no digit may get lost. Default: `false`. */
  readonly readsArguments?: boolean;
  /** Checks the caller before the body is read. @throws ApiError to reject the request. */
  check(caller: Caller): void;
  /**
   * Returns the response body, or lines of JSON (NDJSON) that are sent as they come.
   *
   * @throws ApiError for an error response.
   */
  handle(call: ServerCall<Query>): Promise<object | AsyncIterable<string>>;
}

/** Mounts a route behind the gate for keys and people who are signed in. */
export function mountServerRoute<Query extends z.ZodObject>(
  app: FastifyInstance,
  parts: ServingParts,
  route: ServerRoute<Query>,
): void {
  const checkedQuery = validator('query', route.query ?? noQuery) as (query: unknown) => z.output<Query>;
  app.route({
    method: route.method,
    url: route.path,
    config: { readsArguments: route.readsArguments === true },
    onRequest: parts.requestGate.hook({
      check: (caller) => route.check(caller),
      acceptsUsers: true,
      memory: parts.bodyMemory,
    }),
    handler: async (request, reply) => {
      const { caller, body, log } = request;
      if (!caller) throw new Error('The request was not authenticated.');
      const { id = '' } = request.params as { id?: string };
      if (id === '' && route.path.includes(':id')) throw noSuchEndpoint();
      const query = checkedQuery(request.query);
      // Reads without an effect wait for their turn to be rendered, like the lists of the endpoint table.
      const room =
        route.method === 'GET'
          ? parts.responseMemory.reserve(caller.tenantId, route.path, reply.raw)
          : undefined;
      if (room?.isLarge) await parts.turns.take();
      if (!room) parts.responseMemory.requireRoom(caller.tenantId, route.path);
      const result = await route.handle({
        caller,
        id,
        query,
        body,
        log,
        header: (name) => request.headers[name]?.toString(),
        disconnected: disconnectedSignal(reply),
      });
      releaseBody(request);
      if (Symbol.asyncIterator in result) return sendLines(reply, route.success, result);
      // The size of other responses is not known before.
      if (!room) await parts.turns.take();
      const payload = responsePayload(result);
      if (room) room.resize(payload.length);
      else parts.responseMemory.force(caller.tenantId, route.path, payload.length, reply.raw);
      return reply.code(route.success).type(jsonType).send(payload);
    },
  });
}

/** Sends lines as they come. Resolves when all are sent or the client has disconnected. */
async function sendLines(
  reply: FastifyReply,
  status: number,
  lines: AsyncIterable<string>,
): Promise<FastifyReply> {
  void reply
    .code(status)
    .type('application/x-ndjson; charset=utf-8')
    .send(Readable.from(lines, { objectMode: false }));
  await finished(reply.raw).catch(() => {});
  return reply;
}
