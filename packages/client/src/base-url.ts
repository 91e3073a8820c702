import { InvalidArgumentError } from './errors/invalid-argument-error.ts';
import { environmentVariable } from './platform.ts';

/** An address split into what a transport asks for. */
export interface BaseURL {
  /** Normalised: no trailing slash, no query, no fragment. */
  readonly href: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** What stands before `/v1`: empty, or `/prefix`. */
  readonly pathPrefix: string;
  /** Whether it points at this machine. */
  readonly isLoopback: boolean;
}

/**
 * The address of the deployment, from the option or from `ACTLOG_BASE_URL` (specification, "Base address").
 *
 * @throws InvalidArgumentError When it is missing, no absolute http or https address, carries credentials, a query or
 * a fragment, or is http to another machine without `allowInsecureHttp`.
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
      `${source} is no http or https address: write it like https://actlog.example.com.`,
    );
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new InvalidArgumentError(`${source} carries a user name, a query or a fragment: leave that out.`);
  }
  const isLoopback = isLoopbackHost(url.hostname);
  if (url.protocol === 'http:' && !isLoopback && allowInsecureHttp !== true) {
    throw new InvalidArgumentError(
      `${source} would send the API key unencrypted to ${url.host}: use https, or pass allowInsecureHttp: true ` +
        'where the network itself is trusted.',
    );
  }
  const pathPrefix = url.pathname.replace(/\/+$/, '');
  if (/\/v1$/.test(pathPrefix)) {
    throw new InvalidArgumentError(`${source} ends in /v1: leave that out.`);
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
