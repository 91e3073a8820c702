import type { ErrorDetail } from '@actlog/protocol';
import type * as z from 'zod';
import { ApiError } from './api-error.ts';

/** Maximum number of problems in one response. */
const maxFindings = 20;

/**
 * Validates one part of a request against its schema.
 *
 * @param part Prefix of each problem's path; empty for the body.
 * @throws ApiError `VALIDATION_ERROR` with each problem; values of the request are never included.
 */
export function validated<Schema extends z.ZodType>(
  part: 'params' | 'query' | '',
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const { data, error } = schema.safeParse(value);
  if (!error) return data as z.output<Schema>;
  const details = error.issues.flatMap((issue) => findingsOf(part, issue)).slice(0, maxFindings);
  const [first] = details;
  throw new ApiError('VALIDATION_ERROR', `${first?.path || 'The body'}: ${first?.message}.`, { details });
}

function findingsOf(part: string, issue: z.core.$ZodIssue): ErrorDetail[] {
  const before = part === '' ? [] : [part];
  const pathOf = (...last: string[]) => [...before, ...issue.path.map(String), ...last].join('.');
  if (issue.code !== 'unrecognized_keys') {
    return [{ path: pathOf(), code: issue.code ?? 'custom', message: issue.message }];
  }
  const message = 'is an unknown field; check its spelling or leave it out';
  return issue.keys.map((key) => ({ path: pathOf(key), code: 'unrecognized_key', message }));
}
