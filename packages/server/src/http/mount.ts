import { hash } from 'node:crypto';
import {
  type Endpoint,
  type EndpointName,
  endpointNames,
  endpoints,
  headers,
  stringifyExactJson,
} from '@actlog/protocol';
import { contract, type EndpointSchemas } from '@actlog/protocol/schemas';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, noSuchEndpoint, validationError } from '../lib/api-error.ts';
import type { TenantTurns } from '../lib/tenant-turns.ts';
import { lockNames } from '../storage/locks.ts';
import type { Storage } from '../storage/storage.ts';
import {
  findStoredResponse,
  type ResponsePlace,
  saveResponse,
} from '../storage/stores/idempotent-response-store.ts';
import type { Database, Write } from '../storage/transaction.ts';
import type { DeploymentSecret } from '../tenants/deployment-secret.ts';
import type { RequestMemory, ResponseMemory, ResponseRoom } from './limits/request-memory.ts';
import type { LoopTurns } from './limits/turns.ts';
import { type RequestGate, requireScope } from './request-gate.ts';
import { releaseBody, validated, validator } from './request-input.ts';
import type { Call, ReadRoute, Route, Routes, WriteRoute } from './route.ts';

/** Endpoints whose bodies have arguments of a call, of which no digit may get lost. */
const hasArguments: ReadonlySet<EndpointName> = new Set(['policies.check', 'guardian.pendingActions.decide']);

/** Content type of all responses except the export. */
export const jsonType = 'application/json; charset=utf-8';

type AnyCall = Call<EndpointName>;
type AnyRoute = Route<EndpointName>;
type StoredRoute = ReadRoute<EndpointName> | WriteRoute<EndpointName>;

/** Parts that every mounted route uses. */
export interface ServingParts {
  /** Admits requests by their callers. */
  readonly requestGate: RequestGate;
  /** Limits the memory of the request bodies of all routes that set no other limit. */
  readonly bodyMemory: RequestMemory;
  /** Limits the memory of responses from before they are rendered until they are written. */
  readonly responseMemory: ResponseMemory;
  /** Spreads large reads over turns of the event loop. */
  readonly turns: LoopTurns;
}

/** Parts that {@link mountEndpoints} uses. */
export interface EndpointParts extends ServingParts {
  readonly storage: Storage;
  /** Shares the writing connections between the checks and changes of tenants. */
  readonly writeTurns: TenantTurns;
  readonly secret: DeploymentSecret;
}

/** Mounts the endpoint table: admits and validates each request, calls its handler and sends the response. */
export function mountEndpoints(app: FastifyInstance, parts: EndpointParts, routes: Routes): void {
  for (const name of endpointNames) {
    const endpoint: Endpoint = endpoints[name];
    const checks = checksOf(contract[name]);
    const route = routes[name] as unknown as AnyRoute;
    const ownRoute = route.kind === 'own' ? route : undefined;
    app.route({
      method: endpoint.method,
      url: endpoint.path,
      config: { readsArguments: hasArguments.has(name), keepsJson: name === 'events.create' },
      onRequest: parts.requestGate.hook({
        check: (caller) => {
          requireScope(caller, endpoint.scope);
          ownRoute?.admit?.();
        },
        acceptsUsers: true,
        memory: ownRoute?.memory ?? parts.bodyMemory,
      }),
      handler: async (request, reply) => {
        const call = callOf(request, reply, checks);
        const { tenantId } = call.caller;
        let room: ResponseRoom | undefined;
        if (route.kind === 'read') {
          room = parts.responseMemory.reserve(tenantId, name, reply.raw);
          if (room.isLarge) await parts.turns.take();
        } else {
          parts.responseMemory.requireRoom(tenantId, name);
        }
        const result = ownRoute
          ? await ownRoute.handle(call, reply)
          : await runTransaction(parts, name, route as StoredRoute, call, request);
        releaseBody(request);
        if (result === undefined) return reply;
        const payload = responsePayload(result);
        if (room) room.resize(payload.length);
        else parts.responseMemory.force(tenantId, name, payload.length, reply.raw);
        void reply.code(endpoint.success).type(jsonType);
        return payload;
      },
    });
  }
}

/** Length from which a string is sent as bytes, because writing a string copies it to twice or three times its size. */
const maxStringLength = 16 * 1024;

/** Renders a response. `length` is its size in bytes, for a short string in UTF-16 code units. */
export function responsePayload(result: unknown): string | Buffer {
  const text = JSON.stringify(result);
  return text.length > maxStringLength ? Buffer.from(text) : text;
}

/** Runs the handler of a route whose transaction is opened here. */
async function runTransaction(
  parts: EndpointParts,
  name: EndpointName,
  route: StoredRoute,
  call: AnyCall,
  request: FastifyRequest,
): Promise<unknown> {
  const { tenantId } = call.caller;
  const { storage } = parts;
  await route.prepare?.(call);
  if (route.kind === 'read') return storage.read(tenantId, (db) => route.handle(call, db));
  return parts.writeTurns.run(tenantId, () =>
    storage.write(tenantId, (write) => runWrite(parts, name, route, call, request, write)),
  );
}

/** Runs the handler of a write, or returns the response of the first request with the same `Idempotency-Key`. */
async function runWrite(
  parts: EndpointParts,
  name: EndpointName,
  route: WriteRoute<EndpointName>,
  call: AnyCall,
  request: FastifyRequest,
  write: Write,
): Promise<unknown> {
  const endpoint = endpoints[name];
  const key = endpoint.idempotencyKey ? call.header(headers.idempotencyKey) : undefined;
  if (key === undefined) return route.handle(call, write);
  const { secret } = parts;
  const repeatable = new IdempotentRequest(
    secret,
    call.caller.tenantId,
    name,
    key,
    request.url,
    request.body,
  );
  const first = await repeatable.firstResponse(write.db, call.receivedMs);
  if (first !== undefined) return first;
  const result = await route.handle(call, write);
  await repeatable.storeResponse(write.db, endpoint.success, result, call.receivedMs);
  return result;
}

/** Validators for the parts of a request. */
interface Checks {
  readonly params: (value: unknown) => unknown;
  readonly query: (value: unknown) => unknown;
  readonly body: (value: unknown) => unknown;
}

function checksOf({ params, query, body }: EndpointSchemas): Checks {
  return {
    params: validator('params', params),
    query: validator('query', query),
    body: (value) => (body ? validated('body', body, value) : undefined),
  };
}

function callOf(request: FastifyRequest, reply: FastifyReply, checks: Checks): AnyCall {
  if (!request.caller) throw new Error('The request was not authenticated.');
  if ((request.params as { id?: string }).id === '') throw noSuchEndpoint();
  return {
    caller: request.caller,
    params: checks.params(request.params),
    query: checks.query(request.query),
    body: checks.body(request.body),
    receivedMs: Date.now(),
    bodyJson: request.bodyJson,
    protoKeysRemoved: request.protoKeysRemoved,
    bodyMemoryBytes: request.bodyMemory?.bytes ?? 0,
    header: (name: string) => request.headers[name]?.toString(),
    disconnected: disconnectedSignal(reply),
  } as unknown as AnyCall;
}

const shape = /^[\x21-\x7e]{1,255}$/;

/** One use of an `Idempotency-Key`: the first request stores its response, and a repeat reads it. */
class IdempotentRequest {
  readonly #secret: DeploymentSecret;
  readonly #place: ResponsePlace;
  readonly #digest: string;

  /** `path` and `body` must be the same in a repeat as in the first request. */
  constructor(
    secret: DeploymentSecret,
    tenantId: number,
    endpoint: EndpointName,
    key: string,
    path: string,
    body: unknown,
  ) {
    if (!shape.test(key)) {
      throw validationError(
        headers.idempotencyKey,
        'invalid_format',
        'must have 1 to 255 visible ASCII characters',
      );
    }
    this.#secret = secret;
    this.#place = { tenant_id: tenantId, endpoint, key };
    this.#digest = hash('sha256', stringifyExactJson([path, body]) as string);
  }

  /**
   * Returns the response to the first request, or `undefined` if this is the first.
   *
   * @throws ApiError `IDEMPOTENCY_KEY_REUSED` when the first request differed.
   */
  async firstResponse(db: Database, nowMs: number): Promise<unknown> {
    // A repeat that arrives while the first request is in progress waits for its response.
    await lockNames(db, this.#place.tenant_id, [this.#context]);
    const row = await findStoredResponse(db, this.#place, nowMs);
    if (!row) return undefined;
    if (row.request_digest !== this.#digest) {
      throw new ApiError(
        'IDEMPOTENCY_KEY_REUSED',
        'This Idempotency-Key was used for another request; use a new key for each request.',
      );
    }
    return JSON.parse(this.#secret.decrypt(row.response, this.#context));
  }

  /** Stores the response of the first request, in the transaction of its effect. */
  async storeResponse(db: Database, status: number, response: unknown, nowMs: number): Promise<void> {
    await saveResponse(db, {
      ...this.#place,
      request_digest: this.#digest,
      status,
      // Encrypted, because it can contain a secret that is shown only once.
      response: this.#secret.encrypt(JSON.stringify(response), this.#context),
      created_ms: nowMs,
    });
  }

  get #context(): string {
    return `idempotency:${JSON.stringify(this.#place)}`;
  }
}

/**
 * Returns a function that returns a signal, which aborts when the response is closed: sent, or given up by the caller.
 * The signal is created on the first call, because most requests need none.
 */
export function disconnectedSignal({ raw }: FastifyReply): () => AbortSignal {
  let controller: AbortController | undefined;
  return () => {
    if (!controller) {
      const created = new AbortController();
      controller = created;
      if (raw.destroyed) created.abort();
      else raw.once('close', () => created.abort());
    }
    return controller.signal;
  };
}
