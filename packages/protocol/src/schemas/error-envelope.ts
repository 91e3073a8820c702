import * as z from 'zod';
import { looseObject } from './object.ts';

/** One problem with a request: the field, the kind of problem and the fix. */
export const errorDetail = looseObject({
  /** Path of the field, such as `match.tools`; empty for the request as a whole. */
  path: z.string(),
  /** Machine-readable kind of problem. */
  code: z.string(),
  /** Human-readable message that names the problem and the fix. */
  message: z.string(),
});

const apiError = looseObject({
  /** Machine-readable code, such as `VALIDATION_ERROR`; more codes may be added. */
  code: z.string(),
  /** Human-readable message that names the problem and the fix. */
  message: z.string(),
  /** Present for some errors: for `VALIDATION_ERROR` one `{path, code, message}` for each problem. */
  details: z.array(z.unknown()).optional(),
}).meta({ id: 'ApiError' });

/** Body of every error response (specification, "Errors"). */
export const errorEnvelope = looseObject({
  /** The error. */
  error: apiError,
}).meta({ id: 'ErrorEnvelope' });

/** One problem with a request. */
export type ErrorDetail = z.output<typeof errorDetail>;
/** Body of every error response. */
export type ErrorEnvelope = z.output<typeof errorEnvelope>;
