import type { ErrorDetail } from '@actlog/protocol';
import type * as z from 'zod';
import { ApiError } from './api-error.ts';

/** Findings that one answer lists; a body can break a rule in thousands of places. */
const listedFindings = 20;

/**
 * Checks one part of a request by its schema.
 *
 * @param part `params`, `query` or `body`; the path of a finding starts with it, but for the body.
 * @throws ApiError `VALIDATION_ERROR` with a finding for each broken rule, and no value of the request in it.
 */
export function validated<Schema extends z.ZodType>(
  part: 'params' | 'query' | 'body',
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const details = result.error.issues
    .slice(0, listedFindings)
    .flatMap((issue) => findings(part === 'body' ? [] : [part], issue));
  const [first] = details as [ErrorDetail];
  throw new ApiError('VALIDATION_ERROR', `${first.path || 'The body'}: ${first.message}.`, { details });
}

/** {@link validated} for a path or a query, of which most are empty and need no look where nothing else is taken. */
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

function findings(base: readonly PropertyKey[], issue: z.core.$ZodIssue): ErrorDetail[] {
  const path = [...base, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, listedFindings).map((key) => ({
      path: dotted([...path, key]),
      code: 'unrecognized_key',
      message: 'is not a field that the service knows; check its spelling or leave it out',
    }));
  }
  return [{ path: dotted(path), code: issue.code ?? 'custom', message: wording(issue, base[0] === 'query') }];
}

/** What JSON and people call the types whose names in zod are others. */
const typeNames: Readonly<Record<string, string>> = {
  array: 'an array',
  int: 'a whole number',
  object: 'an object',
  record: 'an object',
};

/** zod's own words speak of undefined; a caller knows a field that is missing, or that a query names twice. */
function wording({ message, path }: z.core.$ZodIssue, isQuery: boolean): string {
  const [, expected, received] = /^Invalid input: expected (\w+), received (\w+)$/.exec(message) ?? [];
  if (expected === undefined) return message;
  if (isQuery && received === 'array' && path.length === 1) return 'is there more than once; give it once';
  const type = typeNames[expected] ?? `a ${expected}`;
  if (received === 'undefined') return `is missing; it must be ${type}`;
  return expected === 'int' && received === 'number' ? `must be ${type}` : `must be ${type}, not ${received}`;
}

function dotted(path: readonly PropertyKey[]): string {
  return path.map(String).join('.').slice(0, 300);
}
