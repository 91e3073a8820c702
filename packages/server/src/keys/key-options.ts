import * as z from 'zod';
import { optionsError } from '../options-error.ts';
import type { CreateKeyOptions } from './key-changes.ts';
import { allScopes } from './provisioning.ts';

/** What a key is for. */
export const keyKind = z.enum(['live', 'test']);

/** What a key may do. */
export const keyScopes = z
  .array(z.enum(allScopes))
  .min(1, 'must name a scope, or be left out for all')
  .transform((scopes) => [...new Set(scopes)]);

/** The name and the days are bounded where they are used. */
const keyOptions = z.strictObject({
  name: z.string(),
  kind: keyKind.optional(),
  scopes: keyScopes.optional(),
  expiresInDays: z.custom<number>((days) => typeof days === 'number', 'must be a number').optional(),
});

/** @throws TypeError that names each option that cannot be taken, and why: a program may not know the types. */
export function checkedKeyOptions(options: CreateKeyOptions): CreateKeyOptions {
  const { data, error } = keyOptions.safeParse(options);
  if (error) throw optionsError("The key's", error);
  return data;
}
