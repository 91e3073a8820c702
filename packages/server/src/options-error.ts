import type * as z from 'zod';

/** Says of each option that cannot be taken which it is, and why. No value is in it. */
export function optionsError(whose: string, { issues }: z.ZodError): TypeError {
  const problems = issues.map(({ path, message }) => `  ${path.join('.') || 'options'}: ${message}`);
  return new TypeError(`${whose} options are not valid:\n${problems.join('\n')}`);
}
