import type { Agent } from 'undici';
import { boundedBody } from '../lib/bounded-body.ts';
import { ForbiddenAddressError, ForbiddenPortError } from './address-guard.ts';
import { request } from './undici.js';

/** Longest response that is read, in bytes. */
const maxResponseBytes = 1024 * 1024;

/** Timeout of a request, in milliseconds; shorter than the lease of a delivery. */
export const fetchTimeoutMs = 20_000;

/** A request of {@link guardedFetch}. */
export interface FetchInit {
  readonly method?: string | undefined;
  readonly headers?: Record<string, string> | undefined;
  readonly body?: string | Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A response, in the form of the Fetch standard as far as channels read it. */
export interface FetchedResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly headers: {
    get(name: string): string | null;
    entries(): Iterable<[string, string]>;
  };
  arrayBuffer(): Promise<ArrayBuffer>;
  json(): Promise<unknown>;
  text(): Promise<string>;
}

/**
 * Sends a request to an address that the agent permits. It follows no redirect.
 *
 * @param agent - of `guardedAgent`
 */
export async function guardedFetch(
  agent: Agent,
  url: string | URL,
  { method = 'GET', headers = {}, body, signal }: FetchInit = {},
): Promise<FetchedResponse> {
  const { href, origin, pathname, search } = new URL(url);
  const timeout = AbortSignal.timeout(fetchTimeoutMs);
  const response = await request.call(agent, {
    origin,
    path: `${pathname}${search}`,
    method: method as 'POST',
    headers,
    body: body === undefined ? null : typeof body === 'string' ? body : Buffer.from(body),
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  });
  const bytes = await boundedBody(response.body, maxResponseBytes);
  const received = new Map(
    Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), String(value)] as const),
  );
  const status = response.statusCode;
  return {
    ok: status >= 200 && status < 300,
    status,
    statusText: '',
    url: href,
    headers: {
      get: (name) => received.get(name.toLowerCase()) ?? null,
      entries: () => received.entries(),
    },
    arrayBuffer: async () => new Uint8Array(bytes).buffer,
    json: async () => JSON.parse(bytes.toString('utf8')) as unknown,
    text: async () => bytes.toString('utf8'),
  };
}

/** Returns the reason of a request without a response, without anything that the receiver wrote. */
export function connectionReason(error: unknown): string {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ForbiddenAddressError || cause instanceof ForbiddenPortError) {
      return `the address ${cause.message}`;
    }
  }
  const { code, name } = error as NodeJS.ErrnoException;
  return `the receiver could not be reached (${code ?? name})`;
}
