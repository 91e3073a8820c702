import type { Dialect } from '../dialect.ts';
import { jsonOf, textOf } from '../span-attributes.ts';

/** Genkit, whose spans do not show the id of a call. */
export const genkitDialect: Dialect = {
  speaks: ({ attributes }) => attributes['genkit:name'] !== undefined,
  read({ attributes, name }) {
    if (attributes['genkit:metadata:subtype'] !== 'tool') return undefined;
    return {
      toolName: textOf(attributes, 'genkit:name') ?? name,
      arguments: jsonOf(textOf(attributes, 'genkit:input')),
      result: textOf(attributes, 'genkit:output'),
    };
  },
};
