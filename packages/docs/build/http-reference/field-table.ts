import { resolved, type Schema } from './document.ts';

/** Maximum depth of nested fields in one table. */
const maxDepth = 4;

/** One row: the path of a field, and its schema. */
interface Field {
  readonly path: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** Returns a table of the fields of a schema in Markdown, nested ones by their path. Empty for a schema without fields. */
export function fieldTable(schema: Schema, requiredColumn: boolean): string {
  const fields = fieldsOf(schema, '', 1);
  if (fields.length === 0) return '';
  const header = requiredColumn
    ? ['| field | type | required | description |', '|---|---|---|---|']
    : ['| field | type | description |', '|---|---|---|'];
  const rows = fields.map(({ path, schema: field, isRequired }) => {
    const cells = [
      `\`${path}\``,
      typeText(field),
      ...(requiredColumn ? [isRequired ? 'yes' : 'no'] : []),
      descriptionOf(field),
    ];
    return `| ${cells.map(cell).join(' | ')} |`;
  });
  return [...header, ...rows].join('\n');
}

/** Escapes text for a cell of a table. */
export function cell(text: string): string {
  return text.replaceAll('\n', ' ').replaceAll('|', '\\|');
}

function fieldsOf(given: Schema, prefix: string, depth: number): Field[] {
  const schema = resolved(given);
  if (schema.items !== undefined) return fieldsOf(schema.items, `${prefix.replace(/\.$/, '')}[].`, depth);
  const variants = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  const nested = variants.flatMap((variant) => fieldsOf(variant, prefix, depth));
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const field = resolved(property);
    const path = `${prefix}${name}`;
    const below = depth < maxDepth ? fieldsOf(field, `${path}.`, depth + 1) : [];
    return [{ path, schema: field, isRequired: schema.required?.includes(name) ?? false }, ...below];
  });
  const unique = new Map([...nested, ...own].map((field) => [field.path, field]));
  return [...unique.values()];
}

/** Returns the type of a value in words, such as `string or null`, with its bounds. */
export function typeText(given: Schema): string {
  const schema = resolved(given);
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(', ');
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) return [...new Set(variants.map(typeText))].join(' or ');
  if (schema.items !== undefined) return `array of ${typeText(schema.items).replace(/^object$/, 'objects')}`;
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? 'any'];
  return `${types.join(' or ')}${formatText(schema)}`;
}

function formatText({ format, minimum, maximum, maxLength, maxItems }: Schema): string {
  const details = [
    format,
    minimum !== undefined && maximum !== undefined ? `${minimum} to ${maximum}` : undefined,
    minimum !== undefined && maximum === undefined ? `at least ${minimum}` : undefined,
    minimum === undefined && maximum !== undefined ? `at most ${maximum}` : undefined,
    maxLength === undefined ? undefined : `at most ${maxLength} characters`,
    maxItems === undefined ? undefined : `at most ${maxItems} items`,
  ].filter((detail) => detail !== undefined);
  return details.length === 0 ? '' : `, ${details.join(', ')}`;
}

function descriptionOf({ description = '', default: value }: Schema): string {
  return value === undefined ? description : `${description} Default: \`${JSON.stringify(value)}\`.`.trim();
}
