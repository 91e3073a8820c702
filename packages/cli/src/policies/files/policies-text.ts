import { type PolicyDefinition, policyDefinition } from '@actlog/policy';
import { openApiDocument } from '@actlog/protocol/openapi';
import { Document, isScalar, Scalar, visit } from 'yaml';
import * as z from 'zod';
import { hasHidden, hiddenEscaped, jsonText } from '../../output/format.ts';
import { policiesFile } from './policies-file.ts';

/** Address of the JSON Schema of policy files. */
const schemaUrl = 'https://unpkg.com/actlog/policies.schema.json';

/** Width at which YAML breaks long strings, in characters. */
const lineWidth = 100;

/**
 * Returns policies as a file, sorted by name, without the fields that have their default. The same policies always give
 * the same text.
 *
 * @param format - format of the file
 */
export function policiesText(definitions: readonly PolicyDefinition[], format: 'yaml' | 'json'): string {
  const sorted = definitions.toSorted((left, right) => (left.name < right.name ? -1 : 1));
  const policies = sorted.map(writtenFields);
  if (format === 'json') return `${jsonText({ $schema: schemaUrl, policies }, 2)}\n`;
  const document = new Document({ policies });
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && hasHidden(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
    Pair(_key, { key, value }) {
      // Lists of patterns are short.
      const isList = isScalar(key) && typeof value === 'object' && value !== null && 'items' in value;
      if (isList && lists.has(String(key.value))) (value as { flow?: boolean }).flow = true;
    },
  });
  const text = document.toString({ lineWidth, flowCollectionPadding: false });
  return `# yaml-language-server: $schema=${schemaUrl}\n${hiddenEscaped(text)}`;
}

const lists: ReadonlySet<string> = new Set(['agents', 'tools', 'frameworks', 'environments']);

const { name: _name, effect: _effect, ...defaults } = policyDefinition({ name: '-', effect: 'deny' });

/** Returns the fields that differ from their defaults, in the order in which people read them. */
function writtenFields(policy: PolicyDefinition): Record<string, unknown> {
  const { name, description, effect, mode, priority, match, condition, rate, approval, message } = policy;
  const optional = { mode, priority, match, condition, rate, approval, message };
  const written = Object.entries(optional).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(defaults[field as keyof typeof defaults]),
  );
  return { name, ...(description !== null && { description }), effect, ...Object.fromEntries(written) };
}

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
