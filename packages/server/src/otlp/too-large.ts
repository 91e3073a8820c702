import { ApiError } from '../lib/api-error.ts';

/** Returns the error of a request with too many spans. @param problem - what is too large, as a clause */
export function tooLarge(problem: string): ApiError {
  return new ApiError(
    'PAYLOAD_TOO_LARGE',
    `${problem}; export fewer spans at once, such as by OTEL_BSP_MAX_EXPORT_BATCH_SIZE=64.`,
  );
}
