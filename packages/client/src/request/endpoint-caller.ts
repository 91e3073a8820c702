import { type EndpointName, endpoints, headers as names } from '@actlog/protocol';
import { InvalidArgumentError, invalidValue } from '../errors/actlog-error.ts';
import type { RecordId } from '../records/id-of.ts';
import type { ApiResponse, BodySink } from '../response/api-response.ts';
import type { Settings } from '../settings.ts';
import type { Transport } from '../transport/transport.ts';
import { type Call, CallRun } from './call-run.ts';
import { type Query, queryString, type RequestOptions, withOverrides } from './request-options.ts';
import { type Outcome, RequestPromise } from './request-promise.ts';

/** Arguments that a resource method passes to the caller. */
export interface CallArguments {
  readonly id?: RecordId | undefined;
  readonly query?: Query | undefined;
  readonly body?: unknown;
  readonly options?: RequestOptions | undefined;
}

/** A call to any path, before its URL, headers and body are built. */
interface RawCall extends CallArguments {
  readonly method: string;
  /** Percent-encoded path. */
  readonly path: string;
  readonly repeatable: boolean;
  readonly sendsIdempotencyKey: boolean;
}

/** Sends the calls of all resources. Each client has one, shared by its resources. */
export class EndpointCaller {
  readonly #settings: Settings;
  readonly #transport: Transport;

  constructor(settings: Settings, transport: Transport) {
    this.#settings = settings;
    this.#transport = transport;
  }

  /**
   * Calls an endpoint and returns its JSON object. The specification lets a change return no body; the result is then
   * an object with only the `id` of the resource: the one that was changed, or the one that `Location` names after a
   * creation (RFC 9110, section 10.2.2).
   */
  call<Data>(
    name: EndpointName,
    given: CallArguments,
    check?: (body: Record<string, unknown>, response: ApiResponse) => void,
  ): RequestPromise<Data> {
    return new RequestPromise(
      this.run(name, given, (response) => {
        const isBareChange = response.isEmpty && endpoints[name].method !== 'GET';
        const id = isBareChange ? (given.id ?? idInLocation(response.head.header('location'))) : undefined;
        const body = id === undefined ? response.jsonObject() : { id };
        check?.(body, response);
        return body as Data;
      }),
    );
  }

  /** Rejects a call before anything is sent. */
  refuse(error: InvalidArgumentError): RequestPromise<never> {
    return new RequestPromise(Promise.reject(error));
  }

  /** Calls an endpoint and reads its response with `read`. */
  async run<Data>(
    name: EndpointName,
    given: CallArguments,
    read: (response: ApiResponse) => Data | Promise<Data>,
    openSink?: () => BodySink,
  ): Promise<Outcome<Data>> {
    const { method, path, repeatable, idempotencyKey } = endpoints[name];
    const call = { method, path: endpointPath(path, given.id), repeatable };
    return this.#send({ ...given, ...call, sendsIdempotencyKey: idempotencyKey }, read, openSink);
  }

  /**
   * Calls any path of the deployment. Returns its JSON, or its text if `Content-Type` is not JSON; undefined for a body
   * that `openSink` takes.
   */
  async raw(
    method: string,
    path: string,
    given: CallArguments,
    openSink?: () => BodySink,
  ): Promise<Outcome<unknown>> {
    const repeatable = /^(GET|HEAD|OPTIONS|PUT|DELETE)$/.test(method); // RFC 9110, section 9.2.2
    return this.#send(
      { ...given, method, path, repeatable, sendsIdempotencyKey: false },
      (response) => response.jsonOrText(),
      openSink,
    );
  }

  #send<Data>(
    raw: RawCall,
    read: (response: ApiResponse) => Data | Promise<Data>,
    openSink?: () => BodySink,
  ): Promise<Outcome<Data>> {
    const { method, path, query, options = {} } = raw;
    const { baseURL } = this.#settings;
    const search = queryString(options.extraQuery ? { ...query, ...options.extraQuery } : query);
    const [bare = path, ...behind] = path.split('?');
    const ownSearch = behind.join('?'); // a query may contain question marks (RFC 3986, section 3.4)
    const body = bodyText(raw.body, options.extraBody);
    const call: Call<Data> = {
      method,
      path: bare,
      target: baseURL.pathPrefix + bare + (ownSearch ? `?${ownSearch}${search.replace('?', '&')}` : search),
      headers: this.#headers(body !== undefined, raw.sendsIdempotencyKey, options),
      body,
      repeatable: raw.repeatable || options.idempotencyKey !== undefined,
      options,
      read,
      ...(openSink ? { openSink } : {}),
    };
    return new CallRun(call, this.#settings, this.#transport).run();
  }

  #headers(
    hasBody: boolean,
    sendsIdempotencyKey: boolean,
    { headers, idempotencyKey }: RequestOptions,
  ): Readonly<Record<string, string>> {
    const base = hasBody ? this.#settings.headers : this.#settings.headersWithoutBody;
    const key = idempotencyKey ?? (sendsIdempotencyKey ? createEventId() : undefined);
    if (key === undefined && headers === undefined) return base;
    const own = key === undefined ? base : withOverrides(base, { [names.idempotencyKey]: key });
    return withOverrides(own, headers);
  }
}

/**
 * Serializes the body before the first `await`, so that later changes by the caller are not sent.
 *
 * @throws InvalidArgumentError When the body is not JSON-serializable.
 */
function bodyText(body: unknown, extra: Readonly<Record<string, unknown>> | undefined): string | undefined {
  if (body === undefined && extra === undefined) return undefined;
  try {
    const text = JSON.stringify(extra ? { ...(body as object), ...extra } : body);
    if (typeof text === 'string') return text;
  } catch (cause) {
    throw new InvalidArgumentError('body is not JSON-serializable: remove cycles and BigInt values.', {
      cause,
    });
  }
  throw new InvalidArgumentError(`body must be JSON-serializable, got ${typeof body}.`);
}

/**
 * Returns the identifier that a `Location` ends with, such as `agt_1` in `/v1/agents/agt_1`; undefined if there is none.
 */
function idInLocation(location: string | undefined): string | undefined {
  const [path = ''] = (location ?? '').trim().split(/[?#]/, 1);
  const end = path.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '').match(/\/([^/]+)\/*$/)?.[1];
  try {
    return end && decodeURIComponent(end);
  } catch {
    return undefined;
  }
}

/**
 * Creates an id for an event or an idempotency key: a random UUID (RFC 9562, version 4).
 *
 * `client.events.create` creates one itself when `eventId` is omitted. Create one beforehand to store an event before
 * it is sent.
 *
 * @example
 * ```ts
 * const eventId = createEventId();
 * ```
 */
export function createEventId(): string {
  return crypto.randomUUID?.() ?? insecureContextUUID();
}

/** Creates the same on a page served over plain HTTP, where browsers have random bytes but no `randomUUID`. */
function insecureContextUUID(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/(.{8})(.{4}).(.{3}).(.{3})(.{12})/, '$1-$2-4$3-a$4-$5');
}

/**
 * Inserts an id into a path of the endpoint table.
 *
 * @throws InvalidArgumentError When the id is neither a string nor a safe integer, is empty, `.` or `..` (which proxies
 * resolve, so that the request would reach another endpoint), or is not well-formed Unicode.
 */
export function endpointPath(template: string, recordId: RecordId | undefined): string {
  if (!template.includes(':id')) return template;
  const id = Number.isSafeInteger(recordId) ? String(recordId) : recordId;
  if (typeof id !== 'string' || id === '' || id === '.' || id === '..' || !id.isWellFormed()) {
    throw invalidValue(`id in ${template}`, 'a record identifier', id);
  }
  return template.replace(':id', () => encodeURIComponent(id));
}

/**
 * Checks and encodes a path passed to `Actlog.request`.
 *
 * @throws InvalidArgumentError When it is not a path of this deployment. An absolute URL would send the key elsewhere.
 */
export function rawPath(path: string): string {
  if (
    typeof path !== 'string' ||
    !path.startsWith('/') ||
    path.startsWith('//') ||
    /[\s\\#]/.test(path) ||
    !path.isWellFormed()
  ) {
    throw new InvalidArgumentError(
      'path must be relative to baseURL and percent-encoded, such as /v1/agents: start with one slash, without spaces or a fragment.',
    );
  }
  const segments = path.split('?', 1)[0]?.split('/') ?? [];
  if (segments.some((segment) => /^(\.|%2e){1,2}$/i.test(segment))) {
    throw new InvalidArgumentError('path must not contain the segments `.` and `..`.');
  }
  return encodeURI(path).replaceAll('%25', '%');
}
