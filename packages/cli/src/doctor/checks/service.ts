import { Actlog, ActlogError, APIError } from '@actlog/client';
import { gt, lt, major, valid } from 'semver';
import { version as own } from '../../version.ts';
import {
  type Check,
  type Facts,
  found,
  known,
  type Outcome,
  ok,
  type ServiceTime,
  skipped,
} from '../check.ts';

/** Requests without the key, which is sent only to actlog. */
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

/** Key that passes the checks of the client and is never sent. */
const placeholderKey = 'al_test_doctor';

/** Check of `ACTLOG_BASE_URL`, by the rules of the client. */
export const baseUrl: Check = {
  id: 'base-url',
  title: 'Address',
  run(facts) {
    const { variables, options } = facts;
    const value = variables.get('ACTLOG_BASE_URL');
    if (value === undefined) {
      return variables.isInEnvFile('ACTLOG_BASE_URL')
        ? found('base-url-not-loaded', { file: '.env' })
        : found('base-url-missing', {});
    }
    try {
      const { allowInsecureHttp } = options;
      const { baseURL } = new Actlog({
        apiKey: placeholderKey,
        baseURL: value,
        allowInsecureHttp,
        proxy: false,
      });
      facts.baseURL = new URL(baseURL);
      return ok(baseURL);
    } catch {
      return problemOf(value);
    }
  },
};

/** Returns the reason for which the client refuses an address. */
function problemOf(value: string): Outcome {
  if (/^["']|["']$/.test(value)) return found('base-url-quoted', {});
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return found('base-url-invalid', {});
  if (url.username || url.password || url.search || url.hash) return found('base-url-parts', {});
  if (/\/v1\/*$/.test(url.pathname)) return found('base-url-version', {});
  return url.protocol === 'http:'
    ? found('base-url-insecure', { host: url.hostname })
    : found('base-url-invalid', {});
}

/** Oldest version of the server that has everything that the commands use. */
const oldest = '0.0.0';

/** Check of the version of the server, where it shows one. */
export const serviceVersion: Check = {
  id: 'version',
  title: 'Service version',
  requires: ['key'],
  run({ identity }) {
    const service = identity?.serverVersion;
    return service === undefined
      ? skipped('the service does not show its version')
      : compareVersions(service, own, oldest);
  },
};

/** Compares the version of a server with this command's version, and with the oldest that it works with. */
export function compareVersions(service: string, ownVersion: string, oldestVersion: string): Outcome {
  if (valid(service) === null) return skipped(`the service shows the version "${service}"`);
  if (lt(service, oldestVersion)) return found('service-too-old', { service, oldest: oldestVersion });
  // The contract only grows within a major version.
  const isTooNew = gt(service, ownVersion) && major(service) !== major(ownVersion);
  return isTooNew ? found('service-too-new', { service, own: ownVersion }) : ok(service);
}

/** Difference from which on the order of sessions and the expiry of approvals suffer, in milliseconds. */
const maxDifferenceMs = 60_000;

/** Check of this machine's clock against the `Date` of the service's response (RFC 9110, section 6.6.1). */
export const clock: Check = {
  id: 'clock',
  title: 'Clock',
  requires: ['service'],
  run({ serviceTime }) {
    if (!serviceTime) return skipped('the service does not send its time');
    const { leastMs, estimateMs } = clockDifference(serviceTime);
    if (leastMs <= maxDifferenceMs) return ok(`within ${formatDuration(maxDifferenceMs)} of the service`);
    const difference = formatDuration(Math.abs(estimateMs));
    return found('clock-off', { difference, direction: estimateMs > 0 ? 'ahead of' : 'behind' });
  },
};

/** Difference between two clocks, in milliseconds. */
interface ClockDifference {
  /** Best estimate; positive if this machine's clock is ahead. */
  readonly estimateMs: number;
  /** Smallest difference that explains the times, without a sign. */
  readonly leastMs: number;
}

/**
 * Compares this machine's clock with the service's. The service wrote its time at some moment between the request and
 * the response, in whole seconds.
 */
export function clockDifference({ sentAtMs, receivedAtMs, dateMs }: ServiceTime): ClockDifference {
  const estimateMs = (sentAtMs + receivedAtMs) / 2 - (dateMs + 500);
  const unsureMs = (receivedAtMs - sentAtMs) / 2 + 500;
  return { estimateMs, leastMs: Math.max(0, Math.abs(estimateMs) - unsureMs) };
}

const units = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
] as const;

/** Formats a duration in its largest unit, such as `3 hours`. */
function formatDuration(durationMs: number): string {
  const [unitMs, name] = units.find(([ms]) => durationMs >= ms) ?? [1000, 'second'];
  const count = Math.round(durationMs / unitMs);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
