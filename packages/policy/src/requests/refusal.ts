import type { ErrorCode, ErrorDetail } from '@actlog/protocol';

/** Content of an error response, in terms of the specification ("Errors"). */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: readonly ErrorDetail[];
}

/**
 * Returns the refusal of a request with one problem.
 *
 * @param path - field with the problem; empty for the request as a whole
 * @param code - machine-readable kind of the problem
 * @param message - the problem, as the rest of a sentence that the field begins, without a period
 */
export function invalidRequest(path: string, code: string, message: string): Refusal {
  const subject = path === '' ? 'The request' : `${path}:`;
  return {
    code: 'VALIDATION_ERROR',
    message: `${subject} ${message}.`,
    details: [{ path, code, message }],
  };
}

/** Returns the refusal for a resource that does not exist or belongs to another tenant; the two look the same. */
export function notFoundRefusal(what: string): Refusal {
  return { code: 'NOT_FOUND', message: `There is no such ${what}.` };
}

/** Refusal of a request to an unknown path. */
export const unknownEndpoint: Refusal = {
  code: 'NOT_FOUND',
  message: 'There is no such endpoint; /openapi.json lists all endpoints.',
};

/** A broken rule of a schema, as zod reports it. */
export interface SchemaIssue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** Unknown fields, if that is the problem. */
  readonly keys?: readonly string[] | undefined;
}

/** Maximum number of findings in a response; a body can break a rule in thousands of places. */
const maxFindings = 20;

/**
 * Returns the refusal of a part of a request that does not match its schema: a finding for each broken rule, without
 * any value of the request.
 *
 * @param part - `params`, `query` or `body`; paths of findings start with it, except for the body
 */
export function schemaRefusal(part: 'params' | 'query' | 'body', issues: readonly SchemaIssue[]): Refusal {
  const details = issues
    .slice(0, maxFindings)
    .flatMap((issue) => findings(part === 'body' ? [] : [part], issue));
  const [first] = details as [ErrorDetail];
  return {
    code: 'VALIDATION_ERROR',
    message: `${first.path || 'The body'}: ${first.message}.`,
    details,
  };
}

function findings(base: readonly PropertyKey[], issue: SchemaIssue): ErrorDetail[] {
  const path = [...base, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return (issue.keys ?? []).slice(0, maxFindings).map((key) => ({
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
function messageOf({ message, path }: SchemaIssue, isQuery: boolean): string {
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
