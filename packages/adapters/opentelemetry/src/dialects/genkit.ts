import type { Dialect } from '../dialect.ts';
import { jsonOf, textOf } from '../span-attributes.ts';

/** What Genkit calls its tools: the second are those that answer with several parts. */
const toolKinds: readonly unknown[] = ['tool', 'tool.v2'];

/** Genkit, whose spans do not show the id of a call. */
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
