import * as z from 'zod';
import { looseObject, type Optional, strictObject } from './scalar.ts';

/**
 * Schemas of a record that the service returns:
 *
 * - `fixed`: the fields that the specification fixes. A response without them breaks the contract.
 * - `accepted`: the fields that a client can read. The fixed fields are required, the profile's fields are
 *   optional, and unknown fields are kept.
 * - `sent`: the exact fields that the reference server sends.
 */
export interface ResourceSchema<Fixed extends z.ZodRawShape, Profile extends z.ZodRawShape> {
  readonly fixed: z.ZodObject<Fixed, z.core.$loose>;
  readonly accepted: z.ZodObject<Fixed & Optional<Profile>, z.core.$loose>;
  readonly sent: z.ZodObject<Fixed & Profile, z.core.$strict>;
}

/**
 * Creates the schemas of a record from the fields that the specification fixes and those that the reference profile
 * adds. `name` is the schema's name in the OpenAPI document.
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

/** A deeply readonly value. */
type Constant<Value> = Value extends readonly (infer Item)[]
  ? readonly Constant<Item>[]
  : Value extends object
    ? { readonly [Field in keyof Value]: Constant<Value[Field]> }
    : Value;

/** A value that a caller passes in. It is deeply readonly, so constants are accepted. */
export type Given<Schema extends z.ZodType> = Constant<z.input<Schema>>;

/** One problem with a request: the field, the kind of problem and the fix. */
export const errorDetail = looseObject({
  /** Path of the field, such as `match.tools`; empty for the request as a whole. */
  path: z.string(),
  /** Machine-readable kind of problem. */
  code: z.string(),
  /** Human-readable message that names the problem and the fix. */
  message: z.string(),
});

const apiError = looseObject({
  /** Machine-readable code, such as `VALIDATION_ERROR`; more codes may be added. */
  code: z.string(),
  /** Human-readable message that names the problem and the fix. */
  message: z.string(),
  /** Present for some errors: for `VALIDATION_ERROR` one `{path, code, message}` for each problem. */
  details: z.array(z.unknown()).optional(),
}).meta({ id: 'ApiError' });

/** Body of every error response (specification, "Errors"). */
export const errorEnvelope = looseObject({
  /** The error. */
  error: apiError,
}).meta({ id: 'ErrorEnvelope' });

/** One problem with a request. */
export type ErrorDetail = z.output<typeof errorDetail>;
/** Body of every error response. */
export type ErrorEnvelope = z.output<typeof errorEnvelope>;
