import { keyPrefixes } from '@actlog/protocol';
import {
  type ClientOptions,
  type Clock,
  clientOptionNames,
  type Hooks,
  LeveledLogger,
  resolveLogLevel,
  systemClock,
} from './client-options.ts';
import { InvalidArgumentError } from './errors/actlog-error.ts';
import { environmentVariable } from './platform.ts';
import { baseHeaders, timeLimit, wholeNumber, withoutBody } from './request/request-options.ts';

/** The client's options, checked and completed. Contains the API key: never printed, never enumerable on a client. */
export interface Settings {
  readonly baseURL: BaseURL;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly maxRetryAfterMs: number;
  readonly deadlineMs: number | undefined;
  readonly maxResponseBytes: number;
  /** Headers of a request with a body. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers of a request without a body. */
  readonly headersWithoutBody: Readonly<Record<string, string>>;
  readonly hooks: Hooks;
  readonly logger: LeveledLogger;
  readonly clock: Clock;
}

/**
 * Checks the options and applies the defaults.
 *
 * @throws InvalidArgumentError When an option is invalid.
 */
export function resolveSettings(options: ClientOptions): Settings {
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && !clientOptionNames.includes(name)) {
      throw new InvalidArgumentError(
        `${JSON.stringify(name)} is not an option of the client: pass some of ${clientOptionNames.join(', ')}.`,
      );
    }
  }
  const { framework, agentVersion, headers: extraHeaders, hooks = {}, logger = console } = options;
  const sdk = options.sdk ? `${options.sdk} ${sdkName}` : sdkName;
  const apiKey = resolveApiKey(options.apiKey);
  const headers = baseHeaders({ apiKey, sdk, framework, agentVersion, headers: extraHeaders });
  return {
    baseURL: resolveBaseURL(options.baseURL, options.allowInsecureHttp ?? false),
    timeoutMs: timeLimit('timeoutMs', options.timeoutMs) ?? 30_000,
    maxRetries: wholeNumber('maxRetries', options.maxRetries) ?? 3,
    maxRetryAfterMs: wholeNumber('maxRetryAfterMs', options.maxRetryAfterMs) ?? 120_000,
    deadlineMs: timeLimit('deadlineMs', options.deadlineMs),
    maxResponseBytes: wholeNumber('maxResponseBytes', options.maxResponseBytes) ?? 64 * 1024 * 1024,
    headers,
    headersWithoutBody: withoutBody(headers),
    hooks,
    logger: new LeveledLogger(logger, resolveLogLevel(options.logLevel)),
    clock: options.clock ?? systemClock,
  };
}

/** A base address, split into the parts that a transport needs. */
interface BaseURL {
  /** Normalized address: no trailing slash, query or fragment. */
  readonly href: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path in front of `/v1`: empty, or `/prefix`. */
  readonly pathPrefix: string;
  /** `true` if the address is on this machine. */
  readonly isLoopback: boolean;
}

/**
 * Returns the address of the deployment, from the option or from `ACTLOG_BASE_URL` (specification, "Base address").
 *
 * @throws InvalidArgumentError When the address is missing, is not an absolute http or https URL, contains credentials,
 * a query or a fragment, or uses http to another machine without `allowInsecureHttp`.
 */
function resolveBaseURL(option: string | URL | undefined, allowInsecureHttp: unknown): BaseURL {
  const source = option === undefined ? 'ACTLOG_BASE_URL' : 'baseURL';
  const given = String(option ?? environmentVariable('ACTLOG_BASE_URL') ?? '').trim();
  if (given === '') {
    throw new InvalidArgumentError(
      'baseURL is missing: pass it, or set the environment variable ACTLOG_BASE_URL.',
    );
  }
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new InvalidArgumentError(
      `${source} must be an http or https URL, such as https://actlog.example.com.`,
    );
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new InvalidArgumentError(`${source} contains credentials, a query or a fragment: remove them.`);
  }
  const isLoopback = isLoopbackHost(url.hostname);
  if (url.protocol === 'http:' && !isLoopback && allowInsecureHttp !== true) {
    throw new InvalidArgumentError(
      `${source} would send the API key unencrypted to ${url.host}: use https, or pass allowInsecureHttp: true ` +
        'on a trusted network.',
    );
  }
  const pathPrefix = url.pathname.replace(/\/+$/, '');
  if (/\/v1$/.test(pathPrefix)) {
    throw new InvalidArgumentError(`${source} ends in /v1: remove it.`);
  }
  return { href: url.origin + pathPrefix, origin: url.origin, pathPrefix, isLoopback };
}

function isLoopbackHost(host: string): boolean {
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(host)
  );
}

/**
 * Returns the API key from the option or from `ACTLOG_API_KEY`. Error messages never show any part of it.
 *
 * @throws InvalidArgumentError When the key is missing, contains white space or a non-ASCII character, or does not
 * start with `al_live_` or `al_test_`. In the last case it is probably a secret of another service, which must not be
 * sent.
 */
function resolveApiKey(option: string | undefined): string {
  const source = option === undefined ? 'ACTLOG_API_KEY' : 'apiKey';
  const key = option ?? environmentVariable('ACTLOG_API_KEY');
  if (!key || typeof key !== 'string') {
    throw new InvalidArgumentError(
      'apiKey is missing or not a string: pass it, or set the environment variable ACTLOG_API_KEY.',
    );
  }
  if (/\s/.test(key)) {
    throw new InvalidArgumentError(`${source} contains white space or a line break: remove it.`);
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new InvalidArgumentError(`${source} contains a non-ASCII character: copy the key again.`);
  }
  const { live, test } = keyPrefixes;
  const prefix = [live, test].find((known) => key.startsWith(known));
  if (prefix === undefined || key.length === prefix.length) {
    throw new InvalidArgumentError(
      `${source} is not an actlog key, which starts with ${live} or ${test}: check that it is not the key of another service.`,
    );
  }
  return key;
}

/** Version of this package; the release writes it. */
export const version = '0.0.0';

/** Value of the `x-service-sdk` header (specification, "Authentication"). */
const sdkName = `@actlog/client/${version}`;
