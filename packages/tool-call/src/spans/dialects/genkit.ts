import type { Dialect } from '../dialect.ts';
import { jsonOf, textOf } from '../span-attributes.ts';

/** Subtypes of Genkit's tools; the second is for tools that return several parts. */
const toolKinds: readonly unknown[] = ['tool', 'tool.v2'];

/** Genkit, whose spans do not contain the id of a call. */
export const genkitDialect: Dialect = {
  speaks: ({ attributes }) => attributes['genkit:name'] !== undefined,
  read({ attributes, name }) {
    if (!toolKinds.includes(attributes['genkit:metadata:subtype'])) return undefined;
    return {
      toolName: textOf(attributes, 'genkit:name') ?? name,
      arguments: jsonOf(textOf(attributes, 'genkit:input')),
      result: textOf(attributes, 'genkit:output'),
    };
  },
};
