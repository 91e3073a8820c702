import type { Dispatcher } from 'undici';
import { Caller } from './caller.ts';
import type { ActlogOptions, Fetch } from './client-options.ts';
import { freePath } from './endpoint-path.ts';
import { InvalidArgumentError } from './errors/invalid-argument-error.ts';
import { FetchTransport } from './fetch-transport.ts';
import { LazyTransport } from './lazy-transport.ts';
import { detectPlatform } from './platform.ts';
import { resolveProxy } from './proxy-option.ts';
import type { Query } from './query-string.ts';
import type { RequestOptions } from './request-options.ts';
import { RequestPromise } from './request-promise.ts';
import { Agents } from './resources/agents.ts';
import { Events } from './resources/events.ts';
import { Guardian } from './resources/guardian.ts';
import { NotificationChannels } from './resources/notification-channels.ts';
import { Policies } from './resources/policies.ts';
import { Sessions } from './resources/sessions.ts';
import { Webhooks } from './resources/webhooks.ts';
import { resolveSettings, type Settings } from './settings.ts';

/** Options of a call to any path. */
export interface FreeRequestOptions extends RequestOptions {
  /** Query parameters. */
  readonly query?: Query | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/**
 * The client of the actlog service: every endpoint, typed, with retries, time limits and errors as the
 * specification describes them.
 *
 * ```ts
 * const client = new Actlog(); // ACTLOG_API_KEY and ACTLOG_BASE_URL
 * await client.events.create({ agentId, sessionId, category: 'tool_api', payload });
 * ```
 */
export class Actlog {
  /** Ingest events. */
  readonly events: Events;
  /** Read sessions, their events, their risk; export them. */
  readonly sessions: Sessions;
  /** Register and read agents. */
  readonly agents: Agents;
  /** Manage policies, and check actions against them. */
  readonly policies: Policies;
  /** See and decide actions that wait. */
  readonly guardian: Guardian;
  /** Create and list webhooks. */
  readonly notificationChannels: NotificationChannels;
  /** Verify deliveries of webhooks. */
  readonly webhooks: Webhooks;
  /** The address of the deployment, without a trailing slash. */
  readonly baseURL: string;
  readonly #options: ActlogOptions;
  readonly #settings: Settings;
  readonly #caller: Caller;
  readonly #transport: LazyTransport | FetchTransport;

  /**
   * @throws InvalidArgumentError When the key or the address is missing, or an option cannot be used. The message
   * names the option, the problem and the way out.
   */
  constructor(options: ActlogOptions = {}) {
    const settings = resolveSettings(options);
    const platform = detectPlatform();
    if (platform === 'browser' && !options.dangerouslyExposeApiKeyInBrowser) {
      throw new InvalidArgumentError(
        'In a browser everyone can read the API key and act as the tenant: call your own server instead, or pass ' +
          'dangerouslyExposeApiKeyInBrowser. A test under jsdom or happy-dom counts as one: run it in the environment node.',
      );
    }
    this.#options = options;
    this.#settings = settings;
    this.#transport = transportFor(options, platform === 'node', settings);
    this.#caller = new Caller(settings, this.#transport);
    this.baseURL = settings.baseURL.href;
    this.events = new Events(this.#caller);
    this.sessions = new Sessions(this.#caller);
    this.agents = new Agents(this.#caller);
    this.policies = new Policies(this.#caller, settings.timeoutMs);
    this.guardian = new Guardian(this.#caller);
    this.notificationChannels = new NotificationChannels(this.#caller);
    this.webhooks = new Webhooks(settings.clock);
  }

  /**
   * Calls any path of the deployment, for endpoints that this package does not know of, with the same headers,
   * retries and errors. A POST or PATCH is repeated after a broken connection only with an `idempotencyKey`.
   *
   * @param method HTTP method.
   * @param path Path relative to `baseURL`, such as `/v1/agents`, already encoded.
   * @returns The JSON of the answer; its text, where its `Content-Type` says that it is something else; undefined,
   * where it has no body.
   */
  request<Data = unknown>(
    method: string,
    path: string,
    options: FreeRequestOptions = {},
  ): RequestPromise<Data> {
    const { query, body, ...rest } = options;
    const ask = async () =>
      this.#caller.free(method.toUpperCase(), freePath(path), { query, body, options: rest });
    return new RequestPromise(ask() as Promise<never>);
  }

  /**
   * A client with some options changed, over the same connections. A `sdk` given here stands before the one that is
   * there, so that an integration built on an integration names both.
   */
  withOptions(changes: ActlogOptions): Actlog {
    const { sdk } = this.#options;
    const joined = changes.sdk && sdk && changes.sdk !== sdk ? `${changes.sdk} ${sdk}` : (changes.sdk ?? sdk);
    const none = { dispatcher: undefined, fetch: undefined, proxy: undefined };
    const transport = changes.dispatcher || changes.fetch ? none : {};
    return createClient({ ...this.#options, ...transport, ...changes, sdk: joined });
  }

  /**
   * The headers of a request with a body, as this client sends them, the API key among them. For code that sends by
   * its own way, such as a delivery engine; never log them.
   */
  headers(): Record<string, string> {
    return { ...this.#settings.headers };
  }

  /**
   * The undici dispatcher in use, loaded where it was not; undefined where a `fetch` is in use. It is shared with
   * other clients: do not close it.
   */
  async dispatcher(): Promise<Dispatcher | undefined> {
    return this.#transport instanceof LazyTransport ? this.#transport.dispatcher() : undefined;
  }

  /**
   * Whether requests go straight to the deployment, over the pool that all clients share: no dispatcher, `fetch` or
   * proxy was chosen. Code that sends by its own way may then use connections of its own.
   */
  get usesDefaultPool(): boolean {
    return this.#transport instanceof LazyTransport && this.#transport.usesDefaultPool;
  }

  /** The `fetch` that requests go through, the caller's or the platform's, or undefined where they go through undici. */
  get fetch(): Fetch | undefined {
    return this.#transport instanceof FetchTransport ? this.#transport.fetch : undefined;
  }
}

/** Outside of the class, which a bundler would give another name if it named itself. */
const createClient = (options: ActlogOptions) => new Actlog(options);

function transportFor(
  { fetch, dispatcher, proxy }: ActlogOptions,
  isNode: boolean,
  { baseURL }: Settings,
): LazyTransport | FetchTransport {
  if (fetch ? dispatcher || typeof fetch !== 'function' : dispatcher && !dispatcher.dispatch) {
    throw new InvalidArgumentError(
      'fetch and dispatcher: pass a function for the one, or an Agent for the other.',
    );
  }
  if (proxy && (fetch || dispatcher || !isNode)) {
    throw new InvalidArgumentError(
      'proxy is for the undici pool of Node: set it up in the fetch or dispatcher that you pass.',
    );
  }
  if (!dispatcher && (!isNode || fetch)) return new FetchTransport(fetch ?? platformFetch);
  return new LazyTransport(dispatcher, resolveProxy(proxy, baseURL.isLoopback));
}

/** Looked up at each call, so that a `fetch` that is replaced later (a mock, an instrumentation) is used. */
const platformFetch: Fetch = (url, init) => globalThis.fetch(url, init);
