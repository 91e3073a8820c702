import * as z from 'zod';
import { optionsError } from '../lib/options-error.ts';
import type { CreateKeyOptions } from './key-changes.ts';
import { allScopes } from './provisioning.ts';

/** Kind of a key. */
export const keyKind = z.enum(['live', 'test']);

/** Scopes of a key. */
export const keyScopes = z
  .array(z.enum(allScopes))
  .min(1, 'must name a scope, or be left out for all')
  .transform((scopes) => [...new Set(scopes)]);

/** Options of a key. The name and the days are checked where they are used. */
const keyOptions = z.strictObject({
  name: z.string(),
  kind: keyKind.optional(),
  scopes: keyScopes.optional(),
  expiresInDays: z.custom<number>((days) => typeof days === 'number', 'must be a number').optional(),
});

/** @throws TypeError that names each invalid option and the reason; a JavaScript caller has no type check. */
export function parseKeyOptions(options: CreateKeyOptions): CreateKeyOptions {
  const { data, error } = keyOptions.safeParse(options);
  if (error) throw optionsError("The key's", error);
  return data;
}
