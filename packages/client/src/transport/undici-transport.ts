import type { Dispatcher } from 'undici';
import { loadUndici } from '#load-undici';
import { InvalidArgumentError } from '../errors/actlog-error.ts';
import { DispatchHandler } from './dispatch-handler.ts';
import type { Exchange, Transport, WireRequest } from './transport.ts';

/**
 * Transport that uses an undici dispatcher. Calls `dispatch` with its own handler, which uses a third less CPU than
 * `request` and reports exactly whether the request was sent.
 */
export class UndiciTransport implements Transport {
  readonly dispatcher: Dispatcher;
  /** Key of the shared dispatchers; undefined for the caller's own. */
  readonly #shared: { readonly proxy: string | undefined } | undefined;

  private constructor(dispatcher: Dispatcher, shared?: { readonly proxy: string | undefined }) {
    this.dispatcher = dispatcher;
    this.#shared = shared;
  }

  /** Creates a transport with the caller's dispatcher, or with the shared one, which loads undici. */
  static async create(own: Dispatcher | undefined, proxy: string | undefined): Promise<UndiciTransport> {
    return own ? new UndiciTransport(own) : new UndiciTransport(await defaultDispatcher(proxy), { proxy });
  }

  send(request: WireRequest, exchange: Exchange): Promise<void> {
    if (this.#shared && isImmediateFaked())
      return this.#sendOnOwnConnection(this.#shared.proxy, request, exchange);
    return dispatch(this.dispatcher, request, exchange);
  }

  /**
   * Sends a request while a test fakes the global `setImmediate`. undici waits for `setImmediate` before it reuses a
   * connection, so each request gets its own connection here.
   */
  async #sendOnOwnConnection(
    proxy: string | undefined,
    request: WireRequest,
    exchange: Exchange,
  ): Promise<void> {
    const dispatcher = await defaultDispatcher(proxy, 'under fake timers');
    if (exchange.abortReason) throw exchange.abortReason;
    await dispatch(dispatcher, request, exchange, { reset: true });
  }
}

function dispatch(
  dispatcher: Dispatcher,
  request: WireRequest,
  exchange: Exchange,
  also: { readonly reset?: boolean } = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const handler = new DispatchHandler(exchange, resolve, reject);
    dispatcher.dispatch(
      {
        origin: request.origin,
        path: request.target,
        method: request.method as Dispatcher.HttpMethod,
        headers: request.headers,
        body: request.body ?? null,
        // The attempt's own timer covers both.
        headersTimeout: 0,
        bodyTimeout: 0,
        ...also,
      },
      handler,
    );
  });
}

/**
 * Returns `true` if a test has replaced the global `setImmediate` with a fake. Those of `@sinonjs/fake-timers` (jest,
 * Vitest) have a `clock`; those of `node:test` are bound functions.
 */
function isImmediateFaked(): boolean {
  const { setImmediate } = globalThis as { setImmediate?: { readonly name: string } };
  return setImmediate !== undefined && ('clock' in setImmediate || setImmediate.name.startsWith('bound '));
}

/** Matches undici's error message for a proxy that refuses a tunnel. Its error codes are shared with other failures. */
const refusal = /^Proxy (?:response|Authentication Required) \((\d+)\)/;

/** undici interceptor that puts the status of a proxy's refusal into the error code, such as `PROXY_RESPONSE_407`. */
const proxyStatusInterceptor: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch(options, new ProxyStatusHandler(handler));

type HandlerArguments<Event extends keyof Dispatcher.DispatchHandler> = Parameters<
  NonNullable<Dispatcher.DispatchHandler[Event]>
>;

class ProxyStatusHandler implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;

  constructor(handler: Dispatcher.DispatchHandler) {
    this.#handler = handler;
  }

  onRequestStart(...args: HandlerArguments<'onRequestStart'>): void {
    this.#handler.onRequestStart?.(...args);
  }

  onRequestUpgrade(...args: HandlerArguments<'onRequestUpgrade'>): void {
    this.#handler.onRequestUpgrade?.(...args);
  }

  onResponseStart(...args: HandlerArguments<'onResponseStart'>): void {
    this.#handler.onResponseStart?.(...args);
  }

  onResponseData(...args: HandlerArguments<'onResponseData'>): void {
    this.#handler.onResponseData?.(...args);
  }

  onResponseEnd(...args: HandlerArguments<'onResponseEnd'>): void {
    this.#handler.onResponseEnd?.(...args);
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    const [, status] = refusal.exec(error.message) ?? [];
    const named = status
      ? Object.assign(new Error(`the proxy responded with ${status}`), { code: `PROXY_RESPONSE_${status}` })
      : error;
    this.#handler.onResponseError?.(controller, named);
  }
}

/**
 * Maximum number of connections to one deployment. Further calls wait for a free connection, within their `timeoutMs`.
 */
const maxConnections = 256;

/** Time limit for a connection, and again for the tunnel of a proxy, in milliseconds. */
const connectTimeoutMs = 10_000;

const agentOptions = {
  connections: maxConnections,
  allowH2: false,
  connect: { timeout: connectTimeoutMs },
} as const;

/**
 * One pool per proxy setting and use, shared by all clients, so that creating a client per request opens no
 * connections.
 */
const shared = new Map<string, Promise<Dispatcher>>();

/**
 * Returns the undici dispatcher of clients that were not given one. Loads undici on first use, because loading it takes
 * longer than everything else in this package.
 *
 * HTTP/2 is off: over one connection it needs two to three times the CPU of HTTP/1.1 here.
 *
 * @param use Name of a separate pool.
 */
function defaultDispatcher(proxy: string | undefined, use = ''): Promise<Dispatcher> {
  const key = `${use} ${proxy ?? ''}`;
  let dispatcher = shared.get(key);
  if (dispatcher === undefined) {
    dispatcher = createDispatcher(proxy);
    shared.set(key, dispatcher);
    dispatcher.catch(() => shared.delete(key));
  }
  return dispatcher;
}

/**
 * Creates a dispatcher.
 *
 * @param tunnelTimeoutMs Without it, a proxy that never responds to CONNECT keeps the process alive for five minutes.
 */
export async function createDispatcher(
  proxy: string | undefined,
  tunnelTimeoutMs = connectTimeoutMs,
): Promise<Dispatcher> {
  const { Agent, EnvHttpProxyAgent, Pool, ProxyAgent } = await loadUndici().catch(notLoaded);
  if (proxy === undefined) return new Agent(agentOptions);
  const proxyOptions = {
    ...agentOptions,
    clientFactory: (origin: URL, options: object) =>
      new Pool(origin, { ...options, headersTimeout: tunnelTimeoutMs }),
  };
  try {
    const agent =
      proxy === 'environment'
        ? new EnvHttpProxyAgent(proxyOptions)
        : new ProxyAgent({ ...proxyOptions, uri: proxy });
    return agent.compose(proxyStatusInterceptor);
  } catch (cause) {
    return notSetUp(cause as Error);
  }
}

/** Throws without the cause, which contains the address and therefore the password. */
function notSetUp({ message }: Error): never {
  throw new InvalidArgumentError(
    `invalid proxy (${message.replace(/\.$/, '')}). Set HTTPS_PROXY and HTTP_PROXY, or the option proxy, to addresses like http://proxy.example.com:3128, with user and password percent-encoded, or pass proxy: false.`,
  );
}

/** Thrown on an older Node, and in an ES module bundle, where esbuild provides no Node modules. */
function notLoaded(cause: unknown): never {
  throw new InvalidArgumentError(
    `undici cannot be loaded (${cause}): use Node.js 22.19 or newer, leave undici out of the bundle, or pass fetch: globalThis.fetch.`,
    { cause },
  );
}
