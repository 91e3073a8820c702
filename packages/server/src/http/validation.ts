import { schemaRefusal } from '@actlog/policy';
import type * as z from 'zod';
import type { Caller } from '../keys/caller.ts';
import { refusalError } from '../lib/api-error.ts';

/**
 * Validates one part of a request against its schema.
 *
 * @param part - `params`, `query` or `body`; paths of findings start with it, except for the body
 * @throws ApiError `VALIDATION_ERROR` with a finding for each broken rule, without values of the request.
 */
export function validated<Schema extends z.ZodType>(
  part: 'params' | 'query' | 'body',
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw refusalError(schemaRefusal(part, result.error.issues));
}

/** Returns {@link validated} for a path or a query, with a shortcut for an empty one that may only be empty. */
export function validator<Schema extends z.ZodObject>(
  part: 'params' | 'query',
  schema: Schema,
): (value: unknown) => z.output<Schema> {
  const takesNothing = Object.keys(schema.shape).length === 0;
  return (value) =>
    takesNothing && isEmpty(value as object) ? (value as z.output<Schema>) : validated(part, schema, value);
}

function isEmpty(value: object): boolean {
  for (const _key in value) return false;
  return true;
}

/** Fields of a log line that identify a caller. */
interface CallerFields {
  readonly tenantId: number;
  readonly keyId?: string;
  readonly userId?: string;
}

/** Returns the fields of a log line for a caller: ids only, never a name, which is personal data. */
export function callerFields({ tenantId, id, keyId }: Caller): CallerFields {
  return keyId === undefined ? { tenantId, userId: id } : { tenantId, keyId };
}

/** `true` if a client has the representation with this tag already (RFC 9110, section 13.1.2). */
export function isUnchanged(etag: string | undefined, ifNoneMatch = ''): boolean {
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return etag !== undefined && (tags.includes(etag) || tags.includes('*'));
}

/** Returns the encodings that `Accept-Encoding` names, without those of weight 0 (RFC 9110, section 12.5.3). */
export function acceptedEncodings(header: string): ReadonlySet<string> {
  const accepted = new Set<string>();
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    if (!parameters.some((text) => /^q=0(?:\.0*)?$/.test(text))) accepted.add(name);
  }
  return accepted;
}
