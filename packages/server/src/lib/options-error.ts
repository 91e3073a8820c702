import type * as z from 'zod';

/** Returns an error that names each invalid option and the reason, without any values. */
export function optionsError(owner: string, { issues }: z.ZodError): TypeError {
  const problems = issues.map(({ path, message }) => `  ${path.join('.') || 'options'}: ${message}`);
  return new TypeError(`${owner} options are not valid:\n${problems.join('\n')}`);
}
