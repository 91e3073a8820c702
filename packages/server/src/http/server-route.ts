import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from 'fastify';
import * as z from 'zod';
import { noSuchEndpoint } from '../lib/api-error.ts';
import type { Slice } from '../storage/slices.ts';
import type { Storage } from '../storage/storage.ts';
import type { Database } from '../storage/transaction.ts';
import type { Caller } from '../tenants/caller.ts';
import { disconnectedSignal, jsonType, responsePayload, type ServingParts } from './mount.ts';
import { type CursorScope, type Cursors, readPage } from './page.ts';
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

/** Parts that every list uses. */
export interface ListParts {
  readonly storage: Storage;
  readonly cursors: Cursors;
}

/** A list of the server's API, whose rows sort by their ids. */
interface ServerList<Query extends z.ZodObject, Row> extends Pick<ServerRoute<Query>, 'check'> {
  /** Name of the list, which is also its path. */
  readonly name: CursorScope['endpoint'];
  readonly query: Query;
  /** Returns the rows after `afterId` for a query; `nowMs` is the time of the request, as for `view`. */
  rows(
    db: Database,
    list: { readonly tenantId: number; readonly query: z.output<Query>; readonly nowMs: number },
    page: { readonly afterId: string | undefined; readonly limit: number },
  ): Promise<Slice<Row>>;
  /** Returns a row as the API returns it. */
  view(row: Row, nowMs: number): object;
}

/** Creates a route that returns a list in pages. */
export function listRoute<Query extends z.ZodObject, Row extends { readonly id: string }>(
  { storage, cursors }: ListParts,
  { name, query: schema, check, rows: read, view }: ServerList<Query, Row>,
): ServerRoute<Query> {
  return {
    method: 'GET',
    path: `/${name}`,
    success: 200,
    query: schema,
    check,
    async handle({ caller: { tenantId }, query }) {
      const nowMs = Date.now();
      const { rows, nextCursor } = await storage.read(tenantId, (db) =>
        readPage(
          cursors,
          { tenantId, endpoint: name, filters: query },
          query,
          ({ after, limit }) =>
            read(db, { tenantId, query, nowMs }, { afterId: after?.[0] as string | undefined, limit }),
          (row) => [row.id],
        ),
      );
      return { items: rows.map((row) => view(row, nowMs)), nextCursor };
    },
  };
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
