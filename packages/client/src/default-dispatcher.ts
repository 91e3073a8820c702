import type { Dispatcher } from 'undici';
import { loadUndici } from '#load-undici';
import { InvalidArgumentError } from './errors/invalid-argument-error.ts';

/**
 * The most connections to one deployment. A call that finds none free waits for one, within its `timeoutMs`; a
 * thousand calls at once then share these, instead of opening a thousand.
 */
const maxConnections = 256;

const agentOptions = { connections: maxConnections, allowH2: false, connect: { timeout: 10_000 } } as const;

/** One pool a proxy setting, shared by all clients: a client made for every request then costs no connection. */
const shared = new Map<string, Promise<Dispatcher>>();

/**
 * The undici dispatcher that a client uses when it was given none. Undici is loaded here, on first use, because
 * loading it takes longer than everything else together.
 *
 * HTTP/2 stays off: over one connection it costs two to three times the CPU of HTTP/1.1 here.
 */
export function defaultDispatcher(proxy: string | undefined): Promise<Dispatcher> {
  const key = proxy ?? '';
  let dispatcher = shared.get(key);
  if (dispatcher === undefined) {
    dispatcher = create(proxy);
    shared.set(key, dispatcher);
    dispatcher.catch(() => shared.delete(key));
  }
  return dispatcher;
}

async function create(proxy: string | undefined): Promise<Dispatcher> {
  const { Agent, EnvHttpProxyAgent, ProxyAgent } = await loadUndici().catch(notLoaded);
  if (proxy === undefined) return new Agent(agentOptions);
  return proxy === 'environment'
    ? new EnvHttpProxyAgent(agentOptions)
    : new ProxyAgent({ ...agentOptions, uri: proxy });
}

/** An older Node, and a bundle that is an ES module, which esbuild leaves without the modules of Node. */
function notLoaded(cause: unknown): never {
  throw new InvalidArgumentError(
    `undici cannot be loaded (${cause}): use Node.js 22.19 or newer, leave undici out of the bundle, or pass fetch: globalThis.fetch.`,
    { cause },
  );
}
