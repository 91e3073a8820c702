import * as z from 'zod';

/** Characters that the name of a tenant or a key has at most. */
const longestName = 200;

/** The name of a tenant or a key: lists and logs show it on one line, so it must not break out of it. */
export const shownName = z
  .string()
  .min(1)
  .max(longestName)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must not hold control characters or lone surrogates');

/** @throws RangeError for a name that cannot be shown on one line. */
export function requireShownName(of: 'key' | 'tenant', name: string): void {
  if (shownName.safeParse(name).success) return;
  throw new RangeError(
    `The name of a ${of} must have 1 to ${longestName} characters, not ${name.length}, and no control characters or lone surrogates.`,
  );
}
