import * as z from 'zod';

/** A shape whose fields are all optional. */
export type Optional<Shape extends z.ZodRawShape> = { [Field in keyof Shape]: z.ZodOptional<Shape[Field]> };

/**
 * Creates a schema for an object with exactly these fields. The fields of `rest` are optional.
 *
 * zod's own function copies the type of the shape, and the declarations that TypeScript emits for a copy lose
 * their comments. With this function, the comment of a field appears on hover if it is on a line of its own and
 * the shapes that are spread into the object are `as const`. Across files only named types keep the comments: a
 * shape that other schemas use is named by a mapped type, such as `ProposedActionShape`.
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

/** Creates a schema like {@link strictObject} that also allows and keeps unknown fields. */
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
