import type { Dispatcher } from 'undici';
import { loadUndici } from '#load-undici';
import { InvalidArgumentError } from '../errors/actlog-error.ts';

/**
 * Maximum number of connections to one deployment. Further calls wait for a free connection, within their `timeoutMs`.
 */
const maxConnections = 256;

/** Time limit for a connection, and again for the tunnel of a proxy, in milliseconds. */
const connectTimeoutMs = 10_000;

/** HTTP/2 is off: over one connection it needs two to three times the CPU of HTTP/1.1 here. */
const agentOptions = {
  connections: maxConnections,
  allowH2: false,
  connect: { timeout: connectTimeoutMs },
} as const;

/** Opens dispatchers of one kind. */
export interface PoolSource {
  readonly open: () => Dispatcher;
  /** Lets the process end while requests are in flight. Must be called when a request starts. */
  readonly unref?: () => void;
}

/**
 * Returns the source of pools for one origin whose connections never keep the process alive.
 *
 * @param limit Maximum number of connections.
 */
export async function unreferencedPools(origin: string, limit: number): Promise<PoolSource> {
  const { buildConnector, Pool } = await loadUndici().catch(notLoaded);
  const connector = buildConnector({ allowH2: false, timeout: connectTimeoutMs });
  const sockets = new Set<Socket>();
  const connect: typeof connector = (options, callback) => {
    // Missing in undici's types: the connector returns the socket that it opens.
    const socket = connector(options, callback) as unknown as Socket | undefined;
    if (socket) {
      sockets.add(socket.unref());
      // For a name with several addresses, Node creates a new handle per attempt.
      socket.on('connectionAttempt', () => socket.unref());
      socket.on('close', () => sockets.delete(socket));
    }
    return socket as never;
  };
  return {
    open: () => new Pool(origin, { connections: limit, allowH2: false, connect }),
    unref: () => {
      // undici references the socket of a request just before it starts.
      for (const socket of sockets) socket.unref();
    },
  };
}

/** The used part of a socket of Node. */
interface Socket {
  unref(): this;
  on(event: 'connectionAttempt' | 'close', listener: () => void): this;
}

/**
 * Creates a dispatcher.
 *
 * @param proxy Address of the proxy, `environment`, or undefined for none.
 * @param tunnelTimeoutMs Without it, a proxy that never responds to CONNECT keeps the process alive for five minutes.
 * @throws InvalidArgumentError When undici cannot be loaded, or the address of the proxy is invalid.
 */
export async function createDispatcher(
  proxy: string | undefined,
  tunnelTimeoutMs = connectTimeoutMs,
): Promise<Dispatcher> {
  return (await pools(proxy, tunnelTimeoutMs)).open();
}

/** Returns the source of pools for all origins, through a proxy if there is one. Loads undici. */
export async function pools(
  proxy: string | undefined,
  tunnelTimeoutMs = connectTimeoutMs,
): Promise<PoolSource> {
  const { Agent, EnvHttpProxyAgent, Pool, ProxyAgent } = await loadUndici().catch(notLoaded);
  if (proxy === undefined) return { open: () => new Agent(agentOptions) };
  const proxyOptions = {
    ...agentOptions,
    clientFactory: (origin: URL, options: object) =>
      new Pool(origin, { ...options, headersTimeout: tunnelTimeoutMs }),
  };
  const open = () => {
    try {
      const agent =
        proxy === 'environment'
          ? new EnvHttpProxyAgent(proxyOptions)
          : new ProxyAgent({ ...proxyOptions, uri: proxy });
      return agent.compose(proxyStatusInterceptor);
    } catch (cause) {
      return notSetUp(cause as Error);
    }
  };
  return { open };
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
