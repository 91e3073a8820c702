import * as z from 'zod';

/** One finding about a request: where, what kind, and what to do. */
export const errorDetail = z.looseObject({ path: z.string(), code: z.string(), message: z.string() });

/** The one shape of all errors (specification, "Errors"). */
export const errorEnvelope = z
  .looseObject({
    error: z.looseObject({
      /** Machine-readable code. */
      code: z.string(),
      /** Human-readable message. */
      message: z.string(),
      /** Present for some errors, such as validation. */
      details: z.array(z.unknown()).optional(),
    }),
  })
  .meta({ id: 'ErrorEnvelope' });

/** One finding about a request. */
export type ErrorDetail = z.output<typeof errorDetail>;
/** The one shape of all errors. */
export type ErrorEnvelope = z.output<typeof errorEnvelope>;
