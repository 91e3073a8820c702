import * as z from 'zod';
import { looseObject } from './object.ts';

/** One finding about a request: where, what kind, and what to do. */
export const errorDetail = looseObject({
  /** The field, such as `match.tools`; empty for the request as a whole. */
  path: z.string(),
  /** What kind of fault it is, for programs. */
  code: z.string(),
  /** What is wrong and what to do, for people. */
  message: z.string(),
});

const fault = looseObject({
  /** Machine-readable code, such as `VALIDATION_ERROR`; new ones may come. */
  code: z.string(),
  /** Human-readable message: what is wrong and what to do. */
  message: z.string(),
  /** Present for some errors: at `VALIDATION_ERROR` one `{path, code, message}` for each fault found. */
  details: z.array(z.unknown()).optional(),
}).meta({ id: 'Fault' });

/** The one shape of all errors (specification, "Errors"). */
export const errorEnvelope = looseObject({
  /** What went wrong. */
  error: fault,
}).meta({ id: 'ErrorEnvelope' });

/** One finding about a request. */
export type ErrorDetail = z.output<typeof errorDetail>;
/** The one shape of all errors. */
export type ErrorEnvelope = z.output<typeof errorEnvelope>;
