import type { BodyOf } from '@actlog/protocol';
import type { MockKey } from './service/key-ring.ts';

/** Options of a mock. Everything has a default. */
export interface ActlogMockOptions {
  /** Address that the mock answers for, without `/v1`. Default `https://actlog.test`, which no network knows. */
  readonly baseURL?: string | URL | undefined;
  /** The key that the mock takes. Default `al_test_mock`. */
  readonly apiKey?: string | undefined;
  /** More keys: with fewer scopes, or of other tenants. */
  readonly otherKeys?: readonly MockKey[] | undefined;
  /** Agents that are registered from the start, and after each `reset()`. */
  readonly agents?: readonly BodyOf<'agents.create'>[] | undefined;
  /** Policies that are there from the start, and after each `reset()`. */
  readonly policies?: readonly BodyOf<'policies.create'>[] | undefined;
}

/**
 * The address without a trailing slash.
 *
 * @throws TypeError When it is no http or https address, ends in `/v1`, or carries a query or credentials.
 */
export function resolveBaseURL(option: string | URL = 'https://actlog.test'): string {
  const url = URL.canParse(String(option)) ? new URL(option) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new TypeError('baseURL is no http or https address: write it like https://actlog.test.');
  }
  const path = url.pathname.replace(/\/+$/, '');
  if (url.username || url.password || url.search || url.hash || path.endsWith('/v1')) {
    throw new TypeError(
      'baseURL carries a user name, a query or a fragment, or ends in /v1: leave that out.',
    );
  }
  return url.origin + path;
}
