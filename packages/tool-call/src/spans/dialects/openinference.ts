import type { Dialect } from '../dialect.ts';
import { answeredCall } from '../langchain-message.ts';
import { jsonOf, textOf } from '../span-attributes.ts';

/** OpenInference, "Tool spans". */
export const openInferenceDialect: Dialect = {
  speaks: ({ attributes }) => attributes['openinference.span.kind'] !== undefined,
  read({ attributes, name }) {
    if (attributes['openinference.span.kind'] !== 'TOOL') return undefined;
    const input = textOf(attributes, 'input.value', 'tool.parameters');
    const result = textOf(attributes, 'output.value');
    // A single string argument is stored directly.
    const isText = attributes['input.mime_type'] === 'text/plain';
    return {
      toolName: textOf(attributes, 'tool.name') ?? name,
      callId: textOf(attributes, 'tool_call.id', 'tool.id') ?? answeredCall(result).callId,
      arguments: isText ? input : jsonOf(input),
      result,
    };
  },
};
