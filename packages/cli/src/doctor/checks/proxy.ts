import { type Check, found, ok } from '../check.ts';
import { connectTo } from '../connect-to.ts';
import { known } from '../known.ts';

/** Check of the proxy variables, and of the proxy itself. */
export const proxy: Check = {
  id: 'proxy',
  title: 'Proxy',
  requires: ['base-url'],
  async run(facts) {
    const url = known(facts.baseURL);
    const chosen = proxyFor(url, process.env);
    if (!chosen) return ok('none');
    const { variable, address } = chosen;
    const host = url.hostname;
    const proxyUrl = URL.canParse(address) ? new URL(address) : undefined;
    if (proxyUrl?.protocol !== 'http:' && proxyUrl?.protocol !== 'https:') {
      return found('proxy-invalid', { variable, host });
    }
    facts.proxy = proxyUrl;
    const code = await connectTo(proxyUrl, facts.options.timeoutMs);
    // Without the user and the password of the address.
    const shown = `${proxyUrl.protocol}//${proxyUrl.host}`;
    return code === undefined
      ? ok(`${shown}, by ${variable}`)
      : found('proxy-unreachable', { proxy: shown, variable, code, host });
  },
};

/** Proxy that requests to an address go through. */
interface FoundProxy {
  /** Name of the variable. */
  readonly variable: string;
  readonly address: string;
}

/**
 * Returns the proxy that the client takes from the environment for an address: none for this machine, as in the client,
 * and none for hosts in `NO_PROXY`, by the rules of undici's `EnvHttpProxyAgent`.
 */
export function proxyFor(url: URL, env: NodeJS.ProcessEnv): FoundProxy | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const names = ['http_proxy', 'HTTP_PROXY'];
  if (url.protocol === 'https:') names.unshift('https_proxy', 'HTTPS_PROXY');
  const variable = names.find((name) => env[name]?.trim());
  if (variable === undefined || isExcluded(url, env.no_proxy ?? env.NO_PROXY ?? '')) return undefined;
  return { variable, address: env[variable]?.trim() ?? '' };
}

function isLoopback(host: string): boolean {
  return (
    host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.\d+){3}$/.test(host)
  );
}

function isExcluded({ hostname, port, protocol }: URL, noProxy: string): boolean {
  if (noProxy.trim() === '*') return true;
  const ownPort = port || (protocol === 'https:' ? '443' : '80');
  return noProxy.split(/[,\s]+/).some((entry) => {
    const [, host = '', entryPort] = /^\*?\.?(.+?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (host === '' || (entryPort !== undefined && entryPort !== ownPort)) return false;
    return hostname === host || hostname.endsWith(`.${host}`);
  });
}
