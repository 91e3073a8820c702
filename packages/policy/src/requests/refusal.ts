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
