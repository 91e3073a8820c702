import { type Endpoint, type EndpointName, endpointNames, endpoints, headers } from '@actlog/protocol';
import { contract, type EndpointSchemas } from '@actlog/protocol/schemas';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../services.ts';
import type { Write } from '../storage/transaction.ts';
import { noSuchEndpoint } from './api-error.ts';
import { requireScope } from './authentication.ts';
import { IdempotentRequest } from './idempotency.ts';
import { releaseBody } from './json-body.ts';
import type { Call, ReadRoute, Route, Routes, WriteRoute } from './route.ts';
import { validated, validator } from './validation.ts';

/** The type of every answer but the export's, which names its own. */
export const jsonType = 'application/json; charset=utf-8';

type AnyCall = Call<EndpointName>;
type AnyRoute = Route<EndpointName>;
type StoredRoute = ReadRoute<EndpointName> | WriteRoute<EndpointName>;

/** Mounts the endpoint table: the one place where its requests are let in, validated by its schemas, handled and answered. */
export function mountEndpoints(app: FastifyInstance, services: Services, routes: Routes): void {
  for (const name of endpointNames) {
    const endpoint: Endpoint = endpoints[name];
    const checks = checksOf(contract[name]);
    const route = routes[name] as unknown as AnyRoute;
    const own = route.kind === 'own' ? route : undefined;
    app.route({
      method: endpoint.method,
      url: endpoint.path,
      onRequest: services.entrance.hook({
        check: (caller) => {
          requireScope(caller, endpoint.scope);
          own?.admit?.();
        },
        memory: own?.memory ?? services.bodyMemory,
      }),
      handler: async (request, reply) => {
        const call = callOf(request, reply, checks);
        const answer = own
          ? await own.handle(call, reply)
          : await storedAnswer(services, name, route as StoredRoute, call, request);
        releaseBody(request);
        if (answer === undefined) return reply;
        void reply.code(endpoint.success).type(jsonType);
        return JSON.stringify(answer);
      },
    });
  }
}

/** The answer of a route that leaves its transaction to this place. */
async function storedAnswer(
  services: Services,
  name: EndpointName,
  route: StoredRoute,
  call: AnyCall,
  request: FastifyRequest,
): Promise<unknown> {
  const { tenantId } = call.caller;
  const { storage } = services;
  await route.prepare?.(call);
  if (route.kind === 'read') return storage.read(tenantId, (db) => route.handle(call, db));
  return storage.write(tenantId, (write) => writtenAnswer(services, name, route, call, request, write));
}

/** The answer of a write, or that of the first request with the same `Idempotency-Key`. */
async function writtenAnswer(
  services: Services,
  name: EndpointName,
  route: WriteRoute<EndpointName>,
  call: AnyCall,
  request: FastifyRequest,
  write: Write,
): Promise<unknown> {
  const endpoint = endpoints[name];
  const key = endpoint.idempotencyKey ? call.header(headers.idempotencyKey) : undefined;
  if (key === undefined) return route.handle(call, write);
  const { secret } = services;
  const repeatable = new IdempotentRequest(
    secret,
    call.caller.tenantId,
    name,
    key,
    request.url,
    request.body,
  );
  const first = await repeatable.firstAnswer(write.db, call.receivedMs);
  if (first !== undefined) return first;
  const answer = await route.handle(call, write);
  await repeatable.keepAnswer(write.db, endpoint.success, answer, call.receivedMs);
  return answer;
}

/** What the parts of a request must pass. */
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
  let gone: AbortController | undefined;
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
    gone: () => {
      if (!gone) {
        const controller = new AbortController();
        gone = controller;
        reply.raw.once('close', () => controller.abort());
      }
      return gone.signal;
    },
  } as unknown as AnyCall;
}
