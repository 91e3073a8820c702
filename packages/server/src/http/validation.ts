import { schemaRefusal } from '@actlog/policy';
import type * as z from 'zod';
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
