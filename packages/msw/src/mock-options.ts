import type { BodyOf } from '@actlog/protocol';
import type { MockKey } from './service/key-ring.ts';

/** Options of a mock. All are optional. */
export interface ActlogMockOptions {
  /** Base URL of the mock, without `/v1`. Default: `https://actlog.test`, which does not exist. */
  readonly baseURL?: string | URL | undefined;
  /** API key that the mock accepts. Default: `al_test_mock`. */
  readonly apiKey?: string | undefined;
  /** Additional keys with fewer scopes or of other tenants. */
  readonly otherKeys?: readonly MockKey[] | undefined;
  /** Agents that are registered initially and after each `reset()`. */
  readonly agents?: readonly BodyOf<'agents.create'>[] | undefined;
  /** Policies that exist initially and after each `reset()`. */
  readonly policies?: readonly BodyOf<'policies.create'>[] | undefined;
}

/**
 * Returns the base URL without a trailing slash.
 *
 * @throws TypeError if it is not an http or https URL, ends in `/v1`, or contains a query or credentials.
 */
export function resolveBaseURL(option: string | URL = 'https://actlog.test'): string {
  const url = URL.canParse(String(option)) ? new URL(option) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new TypeError('baseURL must be an http or https URL such as https://actlog.test.');
  }
  const path = url.pathname.replace(/\/+$/, '');
  if (url.username || url.password || url.search || url.hash || path.endsWith('/v1')) {
    throw new TypeError('baseURL must not contain a user name, a query or a fragment, or end in /v1.');
  }
  return url.origin + path;
}
