import { headers as names } from '@actlog/protocol';
import type { HeaderOverrides } from '../client-options.ts';
import { InvalidArgumentError } from '../errors/actlog-error.ts';
import { detectPlatform } from '../platform.ts';
import { plainEntries } from './request-options.ts';

/** Values that the headers of every request are built from. */
export interface HeaderSource {
  readonly apiKey: string;
  readonly sdk: string;
  readonly framework?: string | undefined;
  readonly agentVersion?: string | undefined;
  readonly headers?: HeaderOverrides | undefined;
}

/**
 * Builds the headers of a request with a body: those of the specification ("Authentication"), `accept`, `user-agent`, and
 * those of the caller. In a browser, `user-agent` is the browser's: setting it there would need the service's consent
 * (Fetch standard, "CORS-preflight fetch").
 *
 * @throws InvalidArgumentError When a value is not valid in a header.
 */
export function baseHeaders(source: HeaderSource): Record<string, string> {
  const result: Record<string, string> = {
    [names.authorization]: `Bearer ${source.apiKey}`,
    [names.contentType]: 'application/json',
    [names.sdk]: checked('sdk', source.sdk),
    accept: 'application/json, */*;q=0.5',
  };
  if (detectPlatform() !== 'browser') result['user-agent'] = source.sdk;
  if (source.framework) result[names.framework] = checked('framework', source.framework);
  if (source.agentVersion) result[names.agentVersion] = checked('agentVersion', source.agentVersion);
  return withOverrides(result, source.headers);
}

/** Returns the same headers for a request without a body. */
export function withoutBody(headers: Readonly<Record<string, string>>): Record<string, string> {
  const { [names.contentType]: _unused, ...rest } = headers;
  return rest;
}

/**
 * Returns a copy with the caller's headers applied.
 *
 * @throws InvalidArgumentError When a name or a value is not valid in a header.
 */
export function withOverrides(
  base: Readonly<Record<string, string>>,
  overrides: HeaderOverrides | undefined,
): Record<string, string> {
  const result = { ...base };
  for (const [name, value] of plainEntries('headers', overrides)) {
    const lower = name.toLowerCase();
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(lower)) {
      throw new InvalidArgumentError(
        `headers: ${JSON.stringify(name)} is not a valid header name (RFC 9110, section 5.1).`,
      );
    }
    if (value === null) delete result[lower];
    else if (value !== undefined) result[lower] = checked(`headers: ${lower}`, value);
  }
  return result;
}

function checked(field: string, value: string): string {
  // A line break would start another header, and non-ASCII characters arrive garbled.
  if (typeof value === 'string' && /^[\x20-\x7e]*$/.test(value)) return value;
  throw new InvalidArgumentError(
    `${field} must be printable ASCII on one line, because it is sent as a header.`,
  );
}
