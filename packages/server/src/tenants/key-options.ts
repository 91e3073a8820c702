import { limits } from '@actlog/protocol';
import * as z from 'zod';
import { optionsError } from '../lib/api-error.ts';
import type { CreateKeyOptions } from './key-changes.ts';
import { allScopes } from './provisioning.ts';

/** Kind of a key. */
export const keyKind = z.enum(['live', 'test']);

/** Scopes of a key. */
export const keyScopes = z
  .array(z.enum(allScopes))
  .min(1, 'must name a scope, or be left out for all')
  .transform((scopes) => [...new Set(scopes)]);

/** Maximum number of patterns of a key. */
const maxKeyAgents = 50;

/** Maximum length of all patterns of a key together. */
const maxAgentsLength = 1000;

/** Patterns of the agents that a key may act as. */
export const keyAgents = z
  .array(
    z
      .string()
      .min(1, 'must not be empty')
      .max(limits.maxIdentifierLength)
      .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must not contain control characters or lone surrogates'),
  )
  .min(1, 'must name an agent, or be left out for any agent')
  .max(maxKeyAgents)
  // A list of a thousand keys is one response.
  .refine(
    (agents) => agents.join('').length <= maxAgentsLength,
    `must have at most ${maxAgentsLength} characters together`,
  )
  .transform((agents) => [...new Set(agents)]);

/** Options of a key. The name and the days are checked where they are used. */
const keyOptions = z.strictObject({
  name: z.string(),
  kind: keyKind.optional(),
  scopes: keyScopes.optional(),
  agents: keyAgents.nullish(),
  shared: z.boolean('must be true or false').optional(),
  requiresIdentity: z.boolean('must be true or false').optional(),
  expiresInDays: z.custom<number>((days) => typeof days === 'number', 'must be a number').optional(),
});

/** @throws TypeError that names each invalid option and the reason; a JavaScript caller has no type check. */
export function parseKeyOptions(options: CreateKeyOptions): CreateKeyOptions {
  const { data, error } = keyOptions.safeParse(options);
  if (error) throw optionsError("The key's", error);
  return data;
}
