import type { ErrorDetail } from '@actlog/protocol';
import type * as z from 'zod';
import { ApiError } from './api-error.ts';

/** Maximum number of findings in a response; a body can break a rule in thousands of places. */
const maxFindings = 20;

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
  const details = result.error.issues
    .slice(0, maxFindings)
    .flatMap((issue) => findings(part === 'body' ? [] : [part], issue));
  const [first] = details as [ErrorDetail];
  throw new ApiError('VALIDATION_ERROR', `${first.path || 'The body'}: ${first.message}.`, { details });
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

function findings(base: readonly PropertyKey[], issue: z.core.$ZodIssue): ErrorDetail[] {
  const path = [...base, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, maxFindings).map((key) => ({
      path: dotted([...path, key]),
      code: 'unrecognized_key',
      message: 'is an unknown field; check its spelling or leave it out',
    }));
  }
  return [
    { path: dotted(path), code: issue.code ?? 'custom', message: messageOf(issue, base[0] === 'query') },
  ];
}

/** Names of zod's types in messages, where they differ from zod's. */
const typeNames: Readonly<Record<string, string>> = {
  array: 'an array',
  int: 'a whole number',
  object: 'an object',
  record: 'an object',
};

/** Rewords zod's messages about `undefined`: a caller knows fields that are missing, or given twice in a query. */
function messageOf({ message, path }: z.core.$ZodIssue, isQuery: boolean): string {
  const [, expected, received] = /^Invalid input: expected (\w+), received (\w+)$/.exec(message) ?? [];
  if (expected === undefined) return message;
  if (isQuery && received === 'array' && path.length === 1) return 'is given more than once; give it once';
  const type = typeNames[expected] ?? `a ${expected}`;
  if (received === 'undefined') return `is missing; it must be ${type}`;
  return expected === 'int' && received === 'number' ? `must be ${type}` : `must be ${type}, not ${received}`;
}

function dotted(path: readonly PropertyKey[]): string {
  return path.map(String).join('.').slice(0, 300);
}
