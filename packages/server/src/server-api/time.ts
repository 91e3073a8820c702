import * as z from 'zod';

/** A time in ISO 8601 with any offset. */
export const time: z.ZodISODateTime = z.iso.datetime({
  offset: true,
  error: 'must be a time in ISO 8601, such as 2026-01-31T12:00:00.000Z',
});

/** A time in ISO 8601, converted to Unix milliseconds. */
export const timeMs: z.ZodType<number> = time.transform((text) => Date.parse(text));
