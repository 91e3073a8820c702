import { type PolicyDefinition, policyDefinition } from '@actlog/policy';
import { Document, isScalar, Scalar, visit } from 'yaml';
import { hasHidden, hiddenEscaped, jsonText } from '../../output/format.ts';

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
