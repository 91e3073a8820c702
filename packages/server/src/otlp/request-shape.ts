import { validationError } from '../lib/api-error.ts';

/** An object of a decoded request. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns a value as an object; an empty one for a field that is not set.
 *
 * @param path - field of the request, for the error
 * @throws ApiError `VALIDATION_ERROR` for any other value
 */
export function fieldsOf(value: unknown, path: string): Fields {
  if (value === undefined || value === null) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value as Fields;
  throw validationError(path, 'invalid_type', 'must be an object');
}

/**
 * Returns a value as a list; an empty one for a field that is not set.
 *
 * @throws ApiError `VALIDATION_ERROR` for any other value
 */
export function listOf(value: unknown, path: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw validationError(path, 'invalid_type', 'must be an array');
}

/** Returns a value that is a string; undefined for others. */
export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
