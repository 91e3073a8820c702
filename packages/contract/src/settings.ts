import { setTimeout as delay } from 'node:timers/promises';
import { ContractError } from './contract-error.ts';
import type { ContractOptions, Settings } from './contract-options.ts';
import { isObject } from './http/api-response.ts';
import { capabilities } from './requirement.ts';
import { requirements } from './requirements.ts';
import { defaultBodies } from './world/default-bodies.ts';

/** Names of the bodies that can be given; the specification fixes that of an event. */
const bodyNames = Object.keys(defaultBodies);

/** Characters that a key may contain in a header (RFC 9110, section 5.5). */
const visible = /^[\x21-\x7e]+$/;

/**
 * Validates the options of a run and applies the defaults.
 *
 * @throws {@link ContractError} `USAGE` for an invalid option.
 */
export function resolveSettings(options: ContractOptions): Settings {
  const only = options.only ?? [];
  for (const part of only) {
    if (!requirements.some(({ id }) => id.startsWith(part))) {
      throw usage(`only: "${part}" matches no requirement; run "actlog conformance --list" for a list.`);
    }
  }
  for (const name of options.capabilities ?? []) {
    if (!capabilities.includes(name))
      throw usage(`capability: must be one of ${capabilities.join(', ')}, got "${name}".`);
  }
  const { bodies = {} } = options;
  if (!isObject(bodies)) throw usage('bodies must be an object with the bodies by endpoint.');
  for (const name of Object.keys(bodies)) {
    if (!bodyNames.includes(name))
      throw usage(`bodies: unknown endpoint "${name}"; use one of ${bodyNames.join(', ')}.`);
  }
  return {
    baseURL: resolveBaseURL(options),
    apiKey: resolveKey('apiKey', options.apiKey) ?? '',
    secondTenantKey: resolveKey('secondTenantKey', options.secondTenantKey),
    retiredKey: resolveKey('retiredKey', options.retiredKey),
    capabilities: new Set(options.capabilities),
    readOnly: options.readOnly ?? false,
    limitedKey: options.limitedKey ?? false,
    strict: options.strict ?? false,
    only,
    bodies,
    burst: wholeNumber('burst', options.burst ?? 0, 0, 100_000),
    timeoutMs: wholeNumber('timeoutMs', options.timeoutMs ?? 30_000, 1, 600_000),
    settleMs: wholeNumber('settleMs', options.settleMs ?? 10_000, 0, 600_000),
    maxRetryAfterMs: wholeNumber('maxRetryAfterMs', options.maxRetryAfterMs ?? 60_000, 0, 3_600_000),
    maxPages: wholeNumber('maxPages', options.maxPages ?? 50, 2, 10_000),
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    signal: options.signal ?? new AbortController().signal,
    onProgress: options.onProgress ?? (() => {}),
    clock: options.clock ?? { sleep: (delayMs, signal) => delay(delayMs, undefined, { signal }) },
  };
}

function resolveBaseURL({ baseURL, allowInsecureHttp }: ContractOptions): string {
  if (!baseURL)
    throw usage('baseURL is missing: pass it, or set --base-url or ACTLOG_BASE_URL for the command.');
  const url = URL.canParse(String(baseURL)) ? new URL(String(baseURL)) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw usage('baseURL must be an http or https URL such as https://actlog.example.com.');
  }
  if (url.username || url.password || url.search || url.hash) {
    throw usage('baseURL must not contain a user name, a query or a fragment.');
  }
  const isLoopback = /^(localhost|.*\.localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(url.hostname);
  if (url.protocol === 'http:' && !isLoopback && !allowInsecureHttp) {
    throw usage(
      `baseURL would send the API key unencrypted to ${url.host}: use https, or allow it (--allow-insecure-http) ` +
        'if the network is trusted.',
    );
  }
  const prefix = url.pathname.replace(/\/+$/, '');
  if (prefix.endsWith('/v1')) throw usage('baseURL must not end in /v1.');
  return url.origin + prefix;
}

function resolveKey(name: string, key: string | undefined): string | undefined {
  if (key === undefined && name !== 'apiKey') return undefined;
  if (key === undefined || (key === '' && name === 'apiKey'))
    throw usage('apiKey is missing: pass it, or set ACTLOG_API_KEY for the command.');
  if (!visible.test(key))
    throw usage(
      `${name} must not be empty or contain white space or characters that are invalid in a header.`,
    );
  return key;
}

function wholeNumber(name: string, value: number, minimum: number, maximum: number): number {
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return value;
  throw usage(`${name} must be a whole number from ${minimum} to ${maximum}.`);
}

function usage(message: string): ContractError {
  return new ContractError('USAGE', message);
}
