import type { Dispatcher } from 'undici';
import type { ClientOptions } from './client-options.ts';
import { InvalidArgumentError } from './errors/actlog-error.ts';
import { detectPlatform, environmentVariable } from './platform.ts';
import { EndpointCaller, rawPath } from './request/endpoint-caller.ts';
import type { Query, RequestOptions } from './request/request-options.ts';
import { RequestPromise } from './request/request-promise.ts';
import { Agents } from './resources/agents.ts';
import { Events } from './resources/events.ts';
import { Guardian } from './resources/guardian.ts';
import { NotificationChannels } from './resources/notification-channels.ts';
import { Policies } from './resources/policies.ts';
import { Sessions } from './resources/sessions.ts';
import { Webhooks } from './resources/webhooks.ts';
import type { BodySink } from './response/api-response.ts';
import { resolveSettings, type Settings } from './settings.ts';
import type { Exchange, Transport, WireRequest } from './transport/transport.ts';
import { type Fetch, FetchTransport } from './transport/transport.ts';
import type { UndiciTransport } from './transport/undici-transport.ts';

/** Options of `Actlog.request`. */
export interface RawRequestOptions extends RequestOptions {
  /** Query parameters. */
  readonly query?: Query | undefined;
  /** Request body, sent as JSON. */
  readonly body?: unknown;
  /** @internal */
  readonly openSink?: (() => BodySink) | undefined;
}

/**
 * Client of the actlog service: all endpoints, typed, with the retries, time limits and errors of the specification.
 *
 * ```ts
 * const client = new Actlog(); // ACTLOG_API_KEY and ACTLOG_BASE_URL
 * await client.events.create({ agentId, sessionId, category: 'tool_api', payload });
 * ```
 */
export class Actlog {
  /** Records events. */
  readonly events: Events;
  /** Reads and exports sessions, with their events and risk. */
  readonly sessions: Sessions;
  /** Registers and reads agents. */
  readonly agents: Agents;
  /** Manages policies and checks actions against them. */
  readonly policies: Policies;
  /** Lists and decides held actions. */
  readonly guardian: Guardian;
  /** Creates and lists webhooks. */
  readonly notificationChannels: NotificationChannels;
  /** Signs and verifies webhook deliveries. */
  readonly webhooks: Webhooks;
  /** Address of the deployment, without a trailing slash. */
  readonly baseURL: string;
  readonly #options: ClientOptions;
  readonly #settings: Settings;
  readonly #caller: EndpointCaller;
  readonly #transport: Transport;

  /**
   * Creates a client.
   *
   * @throws InvalidArgumentError When the key or the address is missing, or an option is invalid. The message names the
   * option, the problem and the fix.
   */
  constructor(options: ClientOptions = {}) {
    const settings = resolveSettings(options);
    const platform = detectPlatform();
    if (platform === 'browser' && !options.dangerouslyExposeApiKeyInBrowser) {
      throw new InvalidArgumentError(
        'In a browser, everyone can read the API key and act as the tenant: call your own server instead, or pass ' +
          'dangerouslyExposeApiKeyInBrowser. jsdom and happy-dom count as browsers: run such tests in the node environment.',
      );
    }
    this.#options = options;
    this.#settings = settings;
    this.#transport = transportFor(options, platform === 'node', settings);
    this.#caller = new EndpointCaller(settings, identified(this.#transport, options, settings));
    this.baseURL = settings.baseURL.href;
    this.events = new Events(this.#caller);
    this.sessions = new Sessions(this.#caller);
    this.agents = new Agents(this.#caller);
    this.policies = new Policies(this.#caller, settings.timeoutMs);
    this.guardian = new Guardian(this.#caller, settings);
    this.notificationChannels = new NotificationChannels(this.#caller);
    this.webhooks = new Webhooks(settings.clock);
  }

  /**
   * Calls any path of the deployment, with the client's headers, retries and errors. Use it for endpoints that this
   * package has no method for. A POST or PATCH is retried after a broken connection only with an `idempotencyKey`.
   *
   * @param method HTTP method.
   * @param path Path relative to `baseURL`, such as `/v1/agents`, percent-encoded.
   * @returns The parsed JSON, the text if `Content-Type` is not JSON, or undefined if there is no body.
   *
   * @example
   * ```ts
   * const labels = await client.request<{ labels: string[] }>('GET', '/v1/labels', { query: { limit: 10 } });
   * ```
   */
  request<Data = unknown>(
    method: string,
    path: string,
    options: RawRequestOptions = {},
  ): RequestPromise<Data> {
    const { query, body, openSink, ...rest } = options;
    const ask = async () =>
      this.#caller.raw(method.toUpperCase(), rawPath(path), { query, body, options: rest }, openSink);
    return new RequestPromise(ask() as Promise<never>);
  }

  /**
   * Creates a client with changed options that uses the same connections. An `sdk` given here is put in front of the
   * existing one, so that an integration built on another integration names both.
   *
   * @example
   * ```ts
   * const patient = client.withOptions({ maxRetries: 10, deadlineMs: 600_000 });
   * ```
   */
  withOptions(changes: ClientOptions): Actlog {
    const { sdk } = this.#options;
    const joined = changes.sdk && sdk && changes.sdk !== sdk ? `${changes.sdk} ${sdk}` : (changes.sdk ?? sdk);
    const none = { dispatcher: undefined, fetch: undefined, proxy: undefined, transport: undefined };
    const before = changes.dispatcher || changes.fetch || changes.transport ? none : {};
    return createClient({ ...this.#options, ...before, ...changes, sdk: joined });
  }

  /**
   * Returns the headers of a request with a body, including the API key. For code that sends its own requests, such as
   * a delivery queue. Never log them.
   *
   * @example
   * ```ts
   * await fetch(`${client.baseURL}/v1/events`, { method: 'POST', headers: client.headers(), body: '{}' });
   * ```
   */
  headers(): Record<string, string> {
    return { ...this.#settings.headers };
  }

  /**
   * Returns the undici dispatcher in use, loading undici if necessary; undefined when the client uses `fetch`. Other
   * clients share it, so do not close it.
   *
   * @example
   * ```ts
   * const dispatcher = await client.dispatcher();
   * ```
   */
  async dispatcher(): Promise<Dispatcher | undefined> {
    return this.#transport instanceof LazyTransport ? this.#transport.dispatcher() : undefined;
  }

  /**
   * Opens a transport to the deployment for requests in the background. No other code uses its connections: they never
   * keep the process alive, and `close` closes them. If the options name a dispatcher, `fetch`, proxy or transport, and
   * on platforms without undici, the result is the transport of this client, without `close`.
   *
   * @param maxConnections Maximum number of connections.
   *
   * @example
   * ```ts
   * const transport = await client.openTransport(8);
   * const queue = client.withOptions({ transport });
   * ```
   */
  async openTransport(maxConnections: number): Promise<Transport> {
    if (!this.usesDefaultPool) {
      await this.dispatcher(); // reports an invalid proxy now
      const transport = this.#transport;
      // The caller may use it elsewhere, and closes it.
      const open = { send: (request: WireRequest, exchange: Exchange) => transport.send(request, exchange) };
      return identified(transport.close ? open : transport, this.#options, this.#settings);
    }
    const { UndiciTransport } = await import('./transport/undici-transport.ts');
    const transport = await UndiciTransport.createUnreferenced(this.#settings.baseURL.origin, maxConnections);
    return identified(transport, this.#options, this.#settings);
  }

  /**
   * `true` if requests go directly to the deployment over the connection pool that all clients share: no dispatcher,
   * `fetch`, proxy or transport is configured.
   */
  get usesDefaultPool(): boolean {
    return this.#transport instanceof LazyTransport && this.#transport.usesDefaultPool;
  }

  /** The `fetch` function in use, from the caller or the platform; undefined when the client uses undici. */
  get fetch(): Fetch | undefined {
    return this.#transport instanceof FetchTransport ? this.#transport.fetch : undefined;
  }
}

/** Outside the class, because a bundler renames a class that refers to itself by name. */
const createClient = (options: ClientOptions) => new Actlog(options);

function transportFor(
  { fetch, dispatcher, proxy, transport }: ClientOptions,
  isNode: boolean,
  { baseURL }: Settings,
): Transport {
  const given = [fetch, dispatcher, transport].filter(Boolean).length;
  const isInvalid =
    (fetch && typeof fetch !== 'function') ||
    (dispatcher && !dispatcher.dispatch) ||
    (transport && !transport.send);
  if (given > 1 || isInvalid) {
    throw new InvalidArgumentError(
      'fetch must be a function, dispatcher an undici Dispatcher and transport a Transport: pass only one of them.',
    );
  }
  if (proxy && (given > 0 || !isNode)) {
    throw new InvalidArgumentError(
      'proxy applies only to the undici pool of Node: configure the proxy in the fetch, dispatcher or transport that you pass.',
    );
  }
  if (transport) return transport;
  if (!dispatcher && (!isNode || fetch)) return new FetchTransport(fetch ?? platformFetch);
  return new LazyTransport(dispatcher, resolveProxy(proxy, baseURL.isLoopback));
}

/** Returns a transport that adds the token of the caller, or the same one if there is no source of a token. */
function identified(
  inner: Transport,
  { identity, onIdentityError }: ClientOptions,
  { clock, logger }: Settings,
): Transport {
  if (identity !== undefined && typeof identity !== 'string' && typeof identity !== 'function') {
    throw new InvalidArgumentError('identity must be a token, or a function that returns one.');
  }
  const variables = ['ACTLOG_IDENTITY_TOKEN_FILE', 'ACTLOG_IDENTITY_TOKEN'];
  if (identity === undefined && !variables.some((name) => environmentVariable(name))) return inner;
  let hasWarned = false;
  const warnOnce = ({ message }: Error) => {
    if (!hasWarned) logger.log('warn', message);
    hasWarned = true;
  };
  const options = { source: identity, clock, onError: onIdentityError ?? warnOnce };
  // Loaded here, because most callers send no token.
  const loaded = import('./transport/identified-transport.ts').then(
    ({ IdentifiedTransport }) => new IdentifiedTransport(inner, options),
  );
  loaded.catch(() => {});
  return {
    send: async (request, exchange) => (await loaded).send(request, exchange),
    ...(inner.close && { close: () => inner.close?.() ?? Promise.resolve() }),
  };
}

/** Reads `globalThis.fetch` on every call, so that a later replacement (a mock, an instrumentation) is used. */
const platformFetch: Fetch = (url, init) => globalThis.fetch(url, init);

/**
 * Returns the proxy to use: its address, `environment`, or undefined for none. As in other tools, the environment's
 * proxy is not used for addresses of this machine, which it could not reach.
 *
 * @throws InvalidArgumentError When the option is not an http or https address.
 */
function resolveProxy(option: string | URL | false | undefined, isLoopback: boolean): string | undefined {
  if (option === false) return undefined;
  if (option !== undefined) {
    const text = String(option);
    if (/^https?:\/\//i.test(text) && URL.canParse(text)) return text;
    throw new InvalidArgumentError('proxy must be an http or https URL, or false.');
  }
  const names = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];
  return !isLoopback && names.some((name) => environmentVariable(name)) ? 'environment' : undefined;
}

/** Transport of Node. Loads undici and the code around it on the first request. */
class LazyTransport implements Transport {
  /** `true` if this is the pool that all clients share: the caller passed no dispatcher, and there is no proxy. */
  readonly usesDefaultPool: boolean;
  readonly #load: () => Promise<UndiciTransport>;
  #loaded: UndiciTransport | undefined;

  /**
   * @param own Dispatcher passed by the caller.
   * @param proxy Result of `resolveProxy`.
   */
  constructor(own: Dispatcher | undefined, proxy: string | undefined) {
    this.usesDefaultPool = own === undefined && proxy === undefined;
    this.#load = async () => {
      const { UndiciTransport } = await import('./transport/undici-transport.ts');
      this.#loaded = await UndiciTransport.create(own, proxy);
      return this.#loaded;
    };
  }

  /** Returns the dispatcher in use. */
  async dispatcher(): Promise<Dispatcher> {
    return (this.#loaded ?? (await this.#load())).dispatcher;
  }

  send(request: WireRequest, exchange: Exchange): Promise<void> {
    return this.#loaded ? this.#loaded.send(request, exchange) : this.#loadAndSend(request, exchange);
  }

  async #loadAndSend(request: WireRequest, exchange: Exchange): Promise<void> {
    const transport = await this.#load();
    if (exchange.abortReason) throw exchange.abortReason;
    await transport.send(request, exchange);
  }
}
