import { unknownEndpoint } from '@actlog/policy';
import { type EndpointName, endpoints, headers as names, stringifyExactJson } from '@actlog/protocol';
import { contract, type EndpointSchemas } from '@actlog/protocol/schemas';
import { routes } from '../routes/routes.ts';
import { ApiError, invalid, refusalError } from './api-error.ts';
import type { Call, Route } from './call.ts';
import { type KeyRing, requireScope } from './key-ring.ts';
import { readBody } from './request-body.ts';
import { responseHeaders as newResponseHeaders } from './response-headers.ts';
import { allowedMethods, pathBelow, type Target, targetOf } from './router.ts';
import { validated } from './validated.ts';

/** The mocked service: responds to any request below its base URL. */
export class MockService {
  readonly #baseURL: string;
  readonly #keys: KeyRing;

  /** @param baseURL Base URL without a trailing slash. */
  constructor(baseURL: string, keys: KeyRing) {
    this.#baseURL = baseURL;
    this.#keys = keys;
  }

  /** Responds to a request. Never throws: errors are returned in the envelope. */
  async handle(request: Request): Promise<Response> {
    const responseHeaders = newResponseHeaders();
    const isHead = request.method === 'HEAD';
    try {
      const { status, body } = await this.#body(request, isHead ? 'GET' : request.method, responseHeaders);
      return new Response(isHead ? null : (stringifyExactJson(body) ?? null), {
        status,
        headers: responseHeaders,
      });
    } catch (error) {
      const known = error instanceof ApiError ? error : unforeseen(error);
      for (const [name, value] of Object.entries(known.headers)) responseHeaders.set(name, value);
      const { status, body } = known.response;
      return new Response(isHead ? null : (stringifyExactJson(body) ?? null), {
        status,
        headers: responseHeaders,
      });
    }
  }

  async #body(request: Request, method: string, responseHeaders: Headers) {
    const path = pathBelow(this.#baseURL, request.url) ?? '';
    if (method === 'GET' && (path === '/healthz' || path === '/readyz'))
      return { status: 200, body: { status: 'ok' } };
    if (method === 'GET' && path === '/openapi.json') {
      const { openApiDocument } = await import('@actlog/protocol/openapi');
      return { status: 200, body: openApiDocument() };
    }
    const target = resolved(method, path);
    const endpoint = endpoints[target.name];
    return { status: endpoint.success, body: await this.#called(request, target, responseHeaders) };
  }

  async #called(request: Request, { name, params }: Target, responseHeaders: Headers): Promise<unknown> {
    const endpoint = endpoints[name];
    const schemas: EndpointSchemas = contract[name];
    const caller = this.#keys.authenticate(request.headers.get(names.authorization));
    requireScope(caller, endpoint.scope);
    const { value, protoKeysRemoved } = await readBody(request);
    const call = {
      ...caller,
      params: validated('params', schemas.params, params),
      query: validated('query', schemas.query, queryOf(request.url)),
      body: schemas.body ? validated('body', schemas.body, value) : undefined,
      nowMs: Date.now(),
      protoKeysRemoved,
      headers: request.headers,
      signal: request.signal,
      responseHeaders,
    } as unknown as Call<EndpointName>;
    const run = async () => (routes[name] as unknown as Route<EndpointName>)(call);
    const key = endpoint.idempotencyKey ? request.headers.get(names.idempotencyKey) : null;
    if (key === null) return run();
    return caller.tenant.responses.once(name, key, JSON.stringify([request.url, value]), run);
  }
}

/** @throws ApiError for a path that cannot be decoded or is unknown, or for an unsupported method. */
function resolved(method: string, path: string): Target {
  if (!canBeDecoded(path))
    throw invalid('', 'invalid_path', 'has a path that cannot be decoded, or an identifier that is too long');
  const target = targetOf(method, path);
  if (target) return target;
  const allow = allowedMethods(path);
  if (allow === '') throw refusalError(unknownEndpoint);
  throw new ApiError('METHOD_NOT_ALLOWED', `This path supports only ${allow}.`, { headers: { allow } });
}

function canBeDecoded(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** Returns the query; a repeated parameter is an array, which no schema accepts. */
function queryOf(url: string): Record<string, string | string[]> {
  const { searchParams } = new URL(url);
  const entries = [...new Set(searchParams.keys())].map((name) => {
    const values = searchParams.getAll(name);
    return [name, values.length > 1 ? values : values[0]] as [string, string | string[]];
  });
  return Object.fromEntries(entries);
}

function unforeseen(error: unknown): ApiError {
  return new ApiError('INTERNAL', `Something went wrong in the mock: ${(error as Error).message}`);
}
