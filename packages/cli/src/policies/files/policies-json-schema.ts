import { openApiDocument } from '@actlog/protocol/openapi';
import * as z from 'zod';
import { policiesFile } from './policies-file.ts';

type Field = { readonly description?: string };
type Definition = { readonly properties?: Readonly<Record<string, Field>> };

/** Names of definitions that the OpenAPI document names differently. */
const wireNames: Readonly<Record<string, string>> = { Policy: 'PolicyCreate' };

/**
 * Returns the JSON Schema of policy files, for editors. It is generated from the schemas that validate the files, with
 * the descriptions of the OpenAPI document. Its version is draft 7, because the most editors know it.
 */
export function policiesJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(policiesFile, { target: 'draft-7', io: 'input' });
  const { definitions = {} } = schema as { readonly definitions?: Record<string, Definition> };
  const wire = openApiDocument() as { components: { schemas: Readonly<Record<string, Definition>> } };
  const described = Object.entries(definitions).map(([name, definition]) => [
    name,
    withDescriptions(definition, wire.components.schemas[wireNames[name] ?? name]),
  ]);
  return {
    $schema,
    $id: 'https://unpkg.com/actlog/policies.schema.json',
    title: 'actlog policies',
    ...schema,
    definitions: Object.fromEntries(described),
  };
}

/** Adds the descriptions of a wire schema to the fields that have none. */
function withDescriptions(definition: Definition, wire: Definition | undefined): Definition {
  const fields = Object.entries(definition.properties ?? {}).map(([name, field]) => {
    const description = field.description ?? wire?.properties?.[name]?.description;
    return [name, description === undefined ? field : { ...field, description }];
  });
  return { ...definition, properties: Object.fromEntries(fields) };
}
