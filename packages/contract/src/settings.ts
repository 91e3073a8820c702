import { setTimeout as delay } from 'node:timers/promises';
import { ContractError } from './contract-error.ts';
import type { ContractOptions, Settings } from './contract-options.ts';
import { isObject } from './http/answer.ts';
import { capabilities } from './requirement.ts';
import { requirements } from './requirements.ts';
import { defaultBodies } from './world/default-bodies.ts';

/** The bodies that can be given: an event is what the specification says. */
const bodyNames = Object.keys(defaultBodies);

/** A key has to fit into a header (RFC 9110, section 5.5). */
const visible = /^[\x21-\x7e]+$/;

/**
 * Checks the options of a run and fills in the defaults.
 *
 * @throws ContractError `USAGE` for one that cannot be used.
 */
export function resolveSettings(options: ContractOptions): Settings {
  const only = options.only ?? [];
  for (const part of only) {
    if (!requirements.some(({ id }) => id.startsWith(part))) {
      throw usage(`only: "${part}" is the beginning of no requirement; "actlog-contract --list" shows them.`);
    }
  }
  for (const name of options.capabilities ?? []) {
    if (!capabilities.includes(name))
      throw usage(`capability: "${name}" is none of ${capabilities.join(', ')}.`);
  }
  const { bodies = {} } = options;
  if (!isObject(bodies)) throw usage('bodies: it must be an object with the bodies by endpoint.');
  for (const name of Object.keys(bodies)) {
    if (!bodyNames.includes(name)) throw usage(`bodies: "${name}" is none of ${bodyNames.join(', ')}.`);
  }
  return {
    baseURL: resolveBaseURL(options),
    apiKey: resolveKey('apiKey', options.apiKey) ?? '',
    secondTenantKey: resolveKey('secondTenantKey', options.secondTenantKey),
    retiredKey: resolveKey('retiredKey', options.retiredKey),
    capabilities: new Set(options.capabilities),
    readOnly: options.readOnly ?? false,
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
    throw usage('baseURL is missing: pass it, or give the command --base-url or ACTLOG_BASE_URL.');
  const url = URL.canParse(String(baseURL)) ? new URL(String(baseURL)) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw usage('baseURL is no http or https address: write it like https://actlog.example.com.');
  }
  if (url.username || url.password || url.search || url.hash) {
    throw usage('baseURL carries a user name, a query or a fragment: leave that out.');
  }
  const isLoopback = /^(localhost|.*\.localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(url.hostname);
  if (url.protocol === 'http:' && !isLoopback && !allowInsecureHttp) {
    throw usage(
      `baseURL would send the API key unencrypted to ${url.host}: use https, or allow it (--allow-insecure-http) ` +
        'where the network itself is trusted.',
    );
  }
  const prefix = url.pathname.replace(/\/+$/, '');
  if (prefix.endsWith('/v1')) throw usage('baseURL ends in /v1: leave that out.');
  return url.origin + prefix;
}

function resolveKey(name: string, key: string | undefined): string | undefined {
  if (key === undefined && name !== 'apiKey') return undefined;
  if (key === undefined || (key === '' && name === 'apiKey'))
    throw usage('apiKey is missing: pass it, or give the command ACTLOG_API_KEY.');
  if (!visible.test(key))
    throw usage(`${name} is empty, or holds white space or a character that no header can carry.`);
  return key;
}

function wholeNumber(name: string, value: number, minimum: number, maximum: number): number {
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return value;
  throw usage(`${name} must be a whole number from ${minimum} to ${maximum}.`);
}

function usage(message: string): ContractError {
  return new ContractError('USAGE', message);
}
