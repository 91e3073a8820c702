import type * as z from 'zod';
import { looseObject, type Optional, strictObject } from './object.ts';

/**
 * A record that the service answers with, stated three times over:
 *
 * - `fixed`: only what the specification fixes. An answer without it breaks the contract.
 * - `accepted`: what a client can read: the fixed fields surely, the profile's fields perhaps, unknown fields
 *   kept.
 * - `sent`: what the reference server always sends, and nothing beside it.
 */
export interface ResourceSchema<Fixed extends z.ZodRawShape, Profile extends z.ZodRawShape> {
  readonly fixed: z.ZodObject<Fixed, z.core.$loose>;
  readonly accepted: z.ZodObject<Fixed & Optional<Profile>, z.core.$loose>;
  readonly sent: z.ZodObject<Fixed & Profile, z.core.$strict>;
}

/**
 * States a record of the wire: the fields that the specification fixes, and those that the reference profile
 * adds. `name` is what the OpenAPI document calls it.
 */
export function resource<const Fixed extends z.ZodRawShape, const Profile extends z.ZodRawShape>(
  name: string,
  fixed: Fixed,
  profile: Profile,
): ResourceSchema<Fixed, Profile> {
  return {
    fixed: looseObject(fixed),
    accepted: looseObject(fixed, profile),
    sent: strictObject({ ...fixed, ...profile }).meta({ id: name }),
  };
}

/** The client's view of a record. */
export type Accepted<Schema extends { accepted: z.ZodType }> = z.output<Schema['accepted']>;

/** The reference server's view of a record. */
export type Sent<Schema extends { sent: z.ZodType }> = z.input<Schema['sent']>;

/** A value that nobody changes. */
type Constant<Value> = Value extends readonly (infer Item)[]
  ? readonly Constant<Item>[]
  : Value extends object
    ? { readonly [Field in keyof Value]: Constant<Value[Field]> }
    : Value;

/** What a caller gives: it is only read, so that a constant may be given too. */
export type Given<Schema extends z.ZodType> = Constant<z.input<Schema>>;
