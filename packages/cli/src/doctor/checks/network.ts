import { isIP } from 'node:net';
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import { type Check, found, known, type Outcome, ok } from '../check.ts';
import { codeOf, connectTo, hostOf, portOf } from '../connect-to.ts';

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

const expired: readonly string[] = ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'];

/** Check of the certificate of the service. */
export const tls: Check = {
  id: 'tls',
  title: 'TLS',
  requires: ['connection'],
  async run(facts) {
    const url = known(facts.baseURL);
    if (url.protocol === 'http:') return ok('not used with http');
    if (facts.proxy) return ok('checked with the request through the proxy');
    return checkCertificate(url, facts.options.timeoutMs);
  },
};

/** Makes a handshake that accepts every certificate and sends nothing, to see what is wrong with it. */
async function checkCertificate(url: URL, timeoutMs: number): Promise<Outcome> {
  const host = hostOf(url);
  const port = portOf(url);
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const socket = connect({
    host,
    port,
    rejectUnauthorized: false,
    timeout: timeoutMs,
    ...(isIP(host) === 0 ? { servername: host } : {}),
  });
  socket.once('secureConnect', () => resolve(judge(socket, host)));
  socket.once('timeout', () => resolve(found('tls-failed', { host, port, code: 'TIMEOUT' })));
  socket.once('error', (error) => resolve(found('tls-failed', { host, port, code: codeOf(error) })));
  socket.once('close', () => resolve(found('tls-failed', { host, port, code: 'closed' })));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

function judge(socket: TLSSocket, host: string): Outcome {
  const certificate = socket.getPeerCertificate();
  if (socket.authorized) return ok(`certificate valid to ${timeOf(certificate.valid_to)}`);
  const { authorizationError } = socket as { authorizationError: unknown };
  const code = authorizationError instanceof Error ? codeOf(authorizationError) : String(authorizationError);
  if (expired.includes(code)) {
    return found('tls-expired', {
      host,
      from: timeOf(certificate.valid_from),
      to: timeOf(certificate.valid_to),
    });
  }
  return code === 'ERR_TLS_CERT_ALTNAME_INVALID'
    ? found('tls-name', { host, names: namesOf(certificate) })
    : found('tls-untrusted', { host, code });
}

function namesOf({ subject, subjectaltname }: PeerCertificate): string {
  return subjectaltname?.replaceAll(/(DNS|IP Address):/g, '') ?? String(subject?.CN ?? 'none');
}

function timeOf(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : at.toISOString().slice(0, 10);
}
