import * as z from 'zod';

/** A shape whose fields may all be left out. */
export type Optional<Shape extends z.ZodRawShape> = { [Field in keyof Shape]: z.ZodOptional<Shape[Field]> };

/**
 * An object with these fields and no others. `rest` are the fields that may be left out.
 *
 * zod's own function copies the type of the shape, and what TypeScript declares of a copy has lost its comments. Here
 * the comment on a field reaches whoever hovers it, where it stands on a line of its own and the shapes that are spread
 * into it are `as const`. Into another file only names carry it: a shape that others hold is named as a mapped type, as
 * `ProposedActionShape` is.
 */
export function strictObject<const Shape extends z.ZodRawShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict>;
export function strictObject<const Shape extends z.ZodRawShape, const Rest extends z.ZodRawShape>(
  shape: Shape,
  rest: Rest,
): z.ZodObject<Shape & Optional<Rest>, z.core.$strict>;
export function strictObject(shape: z.ZodRawShape, rest: z.ZodRawShape = {}): z.ZodObject {
  return z.strictObject({ ...shape, ...optional(rest) });
}

/** An object with these fields and perhaps others, which are kept. Else as {@link strictObject}. */
export function looseObject<const Shape extends z.ZodRawShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$loose>;
export function looseObject<const Shape extends z.ZodRawShape, const Rest extends z.ZodRawShape>(
  shape: Shape,
  rest: Rest,
): z.ZodObject<Shape & Optional<Rest>, z.core.$loose>;
export function looseObject(shape: z.ZodRawShape, rest: z.ZodRawShape = {}): z.ZodObject {
  return z.looseObject({ ...shape, ...optional(rest) });
}

function optional(shape: z.ZodRawShape): z.ZodRawShape {
  return Object.fromEntries(Object.entries(shape).map(([field, schema]) => [field, z.optional(schema)]));
}
