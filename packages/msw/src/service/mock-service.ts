import { unknownEndpoint } from '@actlog/policy';
import {
  type EndpointName,
  endpointNames,
  endpoints,
  headers,
  jsonFlaw,
  limits,
  headers as names,
  parseJsonWithBigInts,
  stringifyExactJson,
} from '@actlog/protocol';
import { contract, type EndpointSchemas } from '@actlog/protocol/schemas';
import { routes } from '../routes/routes.ts';
import { ApiError, invalid, refusalError } from './api-error.ts';
import { type Call, responseHeaders as newResponseHeaders, type Route, validated } from './call.ts';
import { type KeyRing, requireScope } from './key-ring.ts';

/** Endpoint of a request. */
interface Target {
  readonly name: EndpointName;
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

const table = endpointNames.map((name) => ({
  name,
  method: endpoints[name].method,
  pattern: new RegExp(`^${endpoints[name].path.replaceAll('.', '\\.').replace(':id', '(?<id>[^/]+)')}$`),
}));

/** Returns the path of a URL below the base URL; undefined if it is elsewhere. */
export function pathBelow(baseURL: string, url: string): string | undefined {
  const { origin, pathname } = new URL(url);
  const whole = origin + pathname;
  return whole.startsWith(`${baseURL}/`) ? whole.slice(baseURL.length) : undefined;
}

/**
 * Returns the endpoint of a method and a path.
 *
 * @throws URIError if the path cannot be decoded.
 */
function targetOf(method: string, path: string): Target | undefined {
  for (const row of table) {
    if (row.method !== method) continue;
    const { groups } = row.pattern.exec(path) ?? { groups: undefined };
    if (groups !== undefined)
      return { name: row.name, params: { id: decodeURIComponent(groups.id as string) } };
    if (row.pattern.test(path)) return { name: row.name, params: {} };
  }
  return undefined;
}

/** Returns the methods of a path for the `Allow` header; empty for an unknown path. */
function allowedMethods(path: string): string {
  const methods = table.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
  const all = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...new Set<string>(all)].join(', ');
}

/** Returns the endpoint of a request below the base URL; undefined if there is none. */
export function endpointOf(baseURL: string, { method, url }: Request): EndpointName | undefined {
  try {
    return targetOf(method, pathBelow(baseURL, url) ?? '')?.name;
  } catch {
    return undefined; // a path that cannot be decoded
  }
}

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

/** JSON, and JSON Merge Patch (RFC 7396), which PATCH accepts. */
const mediaTypes = new Set(['application/json', 'application/merge-patch+json']);

/** Key that becomes a prototype when a library copies objects; it is removed. */
const protoKey = '__proto__';

/** Body of a request. */
interface RequestBody {
  /** Parsed body; undefined if there was none. */
  readonly value: unknown;
  /** `true` if `__proto__` keys were removed. */
  readonly protoKeysRemoved: boolean;
}

/**
 * Reads a body like the reference server.
 *
 * @throws ApiError for another media type, more than 256 KiB, invalid JSON, or nesting deeper than 32 levels.
 */
async function readBody(request: Request): Promise<RequestBody> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  const [mediaType = ''] = (request.headers.get(headers.contentType) ?? '').toLowerCase().split(';');
  if (bytes.length > 0 && !mediaTypes.has(mediaType.trim())) {
    throw new ApiError(
      'UNSUPPORTED_MEDIA_TYPE',
      'The body must be JSON; send Content-Type: application/json.',
    );
  }
  if (bytes.length > limits.maxBodyBytes) {
    throw new ApiError('PAYLOAD_TOO_LARGE', 'The body is larger than 256 KiB; send less at once.');
  }
  if (bytes.length === 0) return { value: undefined, protoKeysRemoved: false };
  const value = parsed(bytes, new URL(request.url).pathname);
  return { value, protoKeysRemoved: cleaned(value) };
}

function parsed(bytes: Uint8Array, path: string): unknown {
  let text: string;
  let value: unknown;
  try {
    // JSON has no byte order mark (RFC 8259, section 8.1), so one is kept and makes the text invalid.
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    // The message of the parser quotes the body.
    throw invalid('', 'invalid_json', 'must be JSON');
  }
  const isCheck = path.endsWith(endpoints['policies.check'].path);
  const flaw = path.endsWith(endpoints['events.create'].path) ? undefined : jsonFlaw(text);
  if (flaw && (isCheck || flaw.code === 'duplicate_key')) throw invalid(flaw.path, flaw.code, flaw.message);
  return isCheck ? parseJsonWithBigInts(text) : value;
}

/** Removes `__proto__` keys level by level; returns `true` if there were any. */
function cleaned(value: unknown): boolean {
  let isCleaned = false;
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (level.some((one) => typeof one === 'number' && !Number.isFinite(one))) {
      throw invalid('', 'invalid_json', 'contains a number that is too large');
    }
    const objects = level.filter((one): one is object => typeof one === 'object' && one !== null);
    if (objects.length > 0 && depth >= limits.maxJsonDepth) {
      throw invalid('', 'invalid_json', `is nested deeper than ${limits.maxJsonDepth} levels`);
    }
    for (const one of objects) {
      if (Object.hasOwn(one, protoKey)) isCleaned = Reflect.deleteProperty(one, protoKey);
    }
    level = objects.flatMap((one) => Object.values(one));
  }
  return isCleaned;
}
