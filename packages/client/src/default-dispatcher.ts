import type { Dispatcher } from 'undici';
import { loadUndici } from '#load-undici';
import { InvalidArgumentError } from './errors/invalid-argument-error.ts';
import { nameProxyAnswers } from './proxy-answer.ts';

/**
 * The most connections to one deployment. A call that finds none free waits for one, within its `timeoutMs`; a
 * thousand calls at once then share these, instead of opening a thousand.
 */
const maxConnections = 256;

/** Milliseconds for a connection, and again for a proxy to open the way through it. */
const connectTimeoutMs = 10_000;

const agentOptions = {
  connections: maxConnections,
  allowH2: false,
  connect: { timeout: connectTimeoutMs },
} as const;

/** One pool a proxy setting and use, shared by all clients: a client made for every request then costs no connection. */
const shared = new Map<string, Promise<Dispatcher>>();

/**
 * The undici dispatcher that a client uses when it was given none. Undici is loaded here, on first use, because
 * loading it takes longer than everything else together.
 *
 * HTTP/2 stays off: over one connection it costs two to three times the CPU of HTTP/1.1 here.
 *
 * @param use Names a second one, whose connections are kept apart.
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

/** @param tunnelTimeoutMs Without one, a proxy that leaves a CONNECT unanswered holds the process for five minutes. */
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
    return agent.compose(nameProxyAnswers);
  } catch (cause) {
    return notSetUp(cause as Error);
  }
}

/** Without the cause, which holds the address, and in it the password. */
function notSetUp({ message }: Error): never {
  throw new InvalidArgumentError(
    `the proxy cannot be used (${message.replace(/\.$/, '')}). Set HTTPS_PROXY and HTTP_PROXY, or the option proxy, to addresses like http://proxy.example.com:3128, with user and password percent-encoded, or pass proxy: false.`,
  );
}

/** An older Node, and a bundle that is an ES module, which esbuild leaves without the modules of Node. */
function notLoaded(cause: unknown): never {
  throw new InvalidArgumentError(
    `undici cannot be loaded (${cause}): use Node.js 22.19 or newer, leave undici out of the bundle, or pass fetch: globalThis.fetch.`,
    { cause },
  );
}
