import { Actlog, ActlogError, APIError } from '@actlog/client';
import { type Check, found, type Outcome, ok } from '../check.ts';
import type { Facts } from '../facts.ts';
import { known } from '../known.ts';
import { placeholderKey } from './base-url.ts';

/** Requests without the key, which nobody but actlog gets. */
const withoutKey = { headers: { authorization: null } } as const;

/**
 * Check that actlog, and nothing else, responds at the address. The request has no key: every deployment rejects it with
 * the error envelope (specification, "Authentication"), and a page in between does not.
 */
export const service: Check = {
  id: 'service',
  title: 'Service',
  requires: ['connection', 'tls'],
  async run(facts) {
    const baseURL = known(facts.baseURL);
    const { allowInsecureHttp, timeoutMs } = facts.options;
    const client = new Actlog({
      apiKey: facts.apiKey ?? placeholderKey,
      baseURL,
      allowInsecureHttp,
      timeoutMs,
      maxRetries: 0,
      logLevel: 'off',
    });
    if (facts.apiKey !== undefined) facts.client = client;
    return (await identify(client, facts)) ?? (await checkReadiness(client)) ?? ok('actlog responds');
  },
};

/** Returns the problem if something other than actlog responds, or nothing. */
async function identify(client: Actlog, facts: Facts): Promise<Outcome | undefined> {
  const url = client.baseURL;
  const sentAtMs = Date.now();
  try {
    const request = client.request('GET', '/v1/sessions', { query: { limit: 1 }, ...withoutKey });
    const { data, response } = await request.withResponse();
    if (!isPage(data)) return foreignResponse(url, response.status, response.headers);
    noteTime(facts, sentAtMs, response.headers);
    return undefined;
  } catch (error) {
    if (!(error instanceof APIError)) return noResponse(url, error, facts);
    const { status, headers } = error;
    if (status === 407) return found('service-proxy-sign-in', {});
    if (status === 502 || status === 503 || status === 504) return found('service-unavailable', { status });
    if (hasEnvelope(error) && status < 500 && status !== 404) {
      noteTime(facts, sentAtMs, headers);
      return undefined;
    }
    return foreignResponse(url, status, headers);
  }
}

/** Returns the problem if the service says that its database does not respond. Other deployments have no such path. */
async function checkReadiness(client: Actlog): Promise<Outcome | undefined> {
  try {
    await client.request('GET', '/readyz', withoutKey);
  } catch (error) {
    if (error instanceof APIError && error.status === 503) return found('service-not-ready', {});
  }
  return undefined;
}

function noteTime(facts: Facts, sentAtMs: number, headers: Headers | undefined): void {
  const dateMs = Date.parse(headers?.get('date') ?? '');
  if (!Number.isNaN(dateMs)) facts.serviceTime = { sentAtMs, receivedAtMs: Date.now(), dateMs };
}

function foreignResponse(url: string, status: number, headers: Headers | undefined): Outcome {
  const location = headers?.get('location');
  if (status >= 300 && status < 400 && location) {
    return found('service-redirects', { url, location: withoutQuery(location, url) });
  }
  const isPage = headers?.get('content-type')?.includes('html');
  return isPage
    ? found('service-web-page', { url, status, host: new URL(url).hostname })
    : found('service-foreign', { url, status });
}

function noResponse(url: string, error: unknown, facts: Facts): Outcome {
  if (!(error instanceof ActlogError)) throw error;
  const { code, status } = error;
  if (code === 'TLS_FAILED') return found('tls-untrusted', { host: known(facts.baseURL).hostname, code });
  return status === undefined || code === 'TIMEOUT'
    ? found('service-silent', { url, code: causeOf(error) ?? code })
    : found('service-foreign', { url, status });
}

/** Returns the system's code of a failed connection, such as `ECONNRESET`. */
function causeOf({ cause }: Error): string | undefined {
  const { code } = (cause ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

function hasEnvelope({ code }: APIError): boolean {
  return !/^HTTP_\d+$/.test(code);
}

function isPage(data: unknown): boolean {
  return typeof data === 'object' && data !== null && Object.values(data).some(Array.isArray);
}

/** Returns an address without its query, which may contain a secret. */
function withoutQuery(location: string, base: string): string {
  if (!URL.canParse(location, base)) return 'an invalid address';
  const { origin, pathname } = new URL(location, base);
  return origin + pathname;
}
