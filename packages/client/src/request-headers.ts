import { headers as names } from '@actlog/protocol';
import { InvalidArgumentError } from './errors/invalid-argument-error.ts';
import { plainEntries } from './plain-entries.ts';

/** Headers that a caller adds; `null` takes one away that the client would send. */
export type HeaderOverrides = Readonly<Record<string, string | null | undefined>>;

/** What the headers of every request are made from. */
export interface HeaderSource {
  readonly apiKey: string;
  readonly sdk: string;
  readonly framework?: string | undefined;
  readonly agentVersion?: string | undefined;
  readonly headers?: HeaderOverrides | undefined;
}

/**
 * The headers of a request with a body: what the specification names ("Authentication"), and what the caller added.
 *
 * @throws InvalidArgumentError When a value cannot stand in a header.
 */
export function baseHeaders(source: HeaderSource): Record<string, string> {
  const result: Record<string, string> = {
    [names.authorization]: `Bearer ${source.apiKey}`,
    [names.contentType]: 'application/json',
    [names.sdk]: checked('sdk', source.sdk),
  };
  if (source.framework) result[names.framework] = checked('framework', source.framework);
  if (source.agentVersion) result[names.agentVersion] = checked('agentVersion', source.agentVersion);
  return withOverrides(result, source.headers);
}

/** The same headers for a request without a body. */
export function withoutBody(headers: Readonly<Record<string, string>>): Record<string, string> {
  const { [names.contentType]: _unused, ...rest } = headers;
  return rest;
}

/**
 * A copy with the caller's headers laid over.
 *
 * @throws InvalidArgumentError When a name or a value cannot stand in a header.
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
        `headers: ${JSON.stringify(name)} is no header name (RFC 9110, section 5.1).`,
      );
    }
    if (value === null) delete result[lower];
    else if (value !== undefined) result[lower] = checked(`headers: ${lower}`, value);
  }
  return result;
}

function checked(field: string, value: string): string {
  // A line break would start a header of its own; what is not ASCII arrives garbled.
  if (typeof value === 'string' && /^[\x20-\x7e]*$/.test(value)) return value;
  throw new InvalidArgumentError(`${field} must be printable ASCII on one line, to be sent as a header.`);
}
