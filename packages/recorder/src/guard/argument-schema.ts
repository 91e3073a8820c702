/** Result of a Standard Schema (https://standardschema.dev), as far as it is read. */
interface StandardResult {
  readonly issues?: readonly { readonly path?: readonly unknown[] | undefined }[] | undefined;
}

/** A Standard Schema, such as those of zod, Valibot and ArkType. */
interface StandardSchema {
  readonly '~standard': { validate(value: unknown): StandardResult | Promise<StandardResult> };
}

/** A schema of the AI SDK. */
interface AiSdkSchema {
  validate(value: unknown): SuccessResult | Promise<SuccessResult>;
}

interface SuccessResult {
  readonly success: boolean;
}

/**
 * Returns the end of a sentence about what a schema does not permit, without a value; undefined if it permits the
 * arguments, or cannot validate any: a plain JSON Schema has no validator.
 *
 * @param schema - Standard Schema, schema of the AI SDK, or a function that returns one
 */
export async function schemaProblem(schema: unknown, args: unknown): Promise<string | undefined> {
  try {
    const given = isLazy(schema) ? schema() : schema;
    if (isStandard(given)) {
      const { issues } = await given['~standard'].validate(args);
      return issues && notPermitted(issues[0]?.path);
    }
    if (!isAiSdk(given)) return undefined;
    const { success } = await given.validate(args);
    return success ? undefined : notPermitted();
  } catch {
    return 'the schema of the tool could not validate them'; // the error could quote an argument
  }
}

function notPermitted(path: readonly unknown[] = []): string {
  const names = path.map((part) => (part as { readonly key?: unknown } | null)?.key ?? part);
  const where = names.length === 0 ? '' : ` (at ${names.map(String).join('.')})`;
  return `the schema of the tool does not permit them${where}`;
}

function isLazy(schema: unknown): schema is () => unknown {
  return typeof schema === 'function' && !isStandard(schema);
}

function isStandard(schema: unknown): schema is StandardSchema {
  return (
    typeof (schema as Partial<StandardSchema> | null | undefined)?.['~standard']?.validate === 'function'
  );
}

function isAiSdk(schema: unknown): schema is AiSdkSchema {
  return typeof (schema as Partial<AiSdkSchema> | null | undefined)?.validate === 'function';
}
