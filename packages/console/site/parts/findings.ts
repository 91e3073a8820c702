import { APIError } from '@actlog/client';

/** Problem with one field, as reported by the service. */
export interface Finding {
  readonly path: string;
  readonly message: string;
}

/** Returns the problems with single fields that an error of the service reports. */
export function findingsOf(error: unknown): Finding[] {
  const details = error instanceof APIError ? error.details : [];
  return details.filter(
    (detail): detail is Finding =>
      typeof detail === 'object' && detail !== null && 'path' in detail && 'message' in detail,
  );
}
