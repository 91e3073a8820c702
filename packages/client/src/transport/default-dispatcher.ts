import type { Dispatcher } from 'undici';
import { loadUndici } from '#load-undici';
import { InvalidArgumentError } from '../errors/invalid-argument-error.ts';
import { proxyStatusInterceptor } from './proxy-response.ts';

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
export function defaultDispatcher(proxy: string | undefined, use = ''): Promise<Dispatcher> {
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
