import * as z from 'zod';

/** Two shapes in one; the fields of the second may be missing when `Missing` says so. */
type Joined<Fixed extends z.ZodRawShape, Profile extends z.ZodRawShape, Missing extends boolean> = {
  [Field in keyof Fixed | keyof Profile]: Field extends keyof Fixed
    ? Fixed[Field]
    : Field extends keyof Profile
      ? Missing extends true
        ? z.ZodOptional<Profile[Field]>
        : Profile[Field]
      : never;
};

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
  readonly accepted: z.ZodObject<Joined<Fixed, Profile, true>, z.core.$loose>;
  readonly sent: z.ZodObject<Joined<Fixed, Profile, false>, z.core.$strict>;
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
  const optional = Object.fromEntries(
    Object.entries(profile).map(([field, schema]) => [field, z.optional(schema)]),
  );
  return {
    fixed: z.looseObject(fixed),
    accepted: z.looseObject({ ...fixed, ...optional }),
    sent: z.strictObject({ ...fixed, ...profile }).meta({ id: name }),
    // The compiler cannot follow Object.fromEntries; the declared shapes say what it makes.
  } as unknown as ResourceSchema<Fixed, Profile>;
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
