import * as z from 'zod';

/** Maximum length of the name of a tenant or a key, in characters. */
const maxNameLength = 200;

/** Schema of the name of a tenant or a key. It must fit on one line of a list or a log. */
export const singleLineName = z
  .string()
  .min(1)
  .max(maxNameLength)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must not contain control characters or lone surrogates');

/** @throws RangeError for a name, or the reason of an erasure, that does not fit on one line. */
export function requireSingleLineName(of: 'key' | 'tenant' | 'legal hold' | 'erasure', name: string): void {
  if (singleLineName.safeParse(name).success) return;
  throw new RangeError(
    `The ${of === 'erasure' ? 'reason of an erasure' : `name of a ${of}`} must have 1 to ${maxNameLength} characters, not ${name.length}, and no control characters or lone surrogates.`,
  );
}
