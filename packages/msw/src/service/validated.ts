import { schemaRefusal } from '@actlog/policy';
import type * as z from 'zod';
import { refusalError } from './api-error.ts';

/**
 * Validates one part of a request against its schema.
 *
 * @throws ApiError `VALIDATION_ERROR` with each problem; values of the request are never included.
 */
export function validated<Schema extends z.ZodType>(
  part: 'params' | 'query' | 'body',
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const { data, error } = schema.safeParse(value);
  if (error) throw refusalError(schemaRefusal(part, error.issues));
  return data as z.output<Schema>;
}
