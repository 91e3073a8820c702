import { InvalidArgumentError } from './errors/invalid-argument-error.ts';
import { environmentVariable } from './platform.ts';

/** A base address, split into the parts that a transport needs. */
export interface BaseURL {
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
export function resolveBaseURL(option: string | URL | undefined, allowInsecureHttp: unknown): BaseURL {
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
