import type { Dialect } from '../dialect.ts';
import type { GenAiSpan } from '../genai-span.ts';
import { jsonOf, textOf } from '../span-attributes.ts';

/** Returns the arguments where earlier versions of the conventions, and Strands, put them. */
function argumentsEvent({ events }: GenAiSpan): string | undefined {
  const message = events.find(({ name }) => name === 'gen_ai.tool.message');
  return textOf(message?.attributes, 'content');
}

/** OpenTelemetry's semantic conventions for GenAI, "Execute tool span". */
export const genAiDialect: Dialect = {
  speaks: ({ attributes }) => attributes['gen_ai.operation.name'] !== undefined,
  read(span) {
    const { attributes, name } = span;
    if (attributes['gen_ai.operation.name'] !== 'execute_tool') return undefined;
    return {
      toolName: textOf(attributes, 'gen_ai.tool.name') ?? name.replace(/^execute_tool /, ''),
      callId: textOf(attributes, 'gen_ai.tool.call.id'),
      arguments: jsonOf(textOf(attributes, 'gen_ai.tool.call.arguments') ?? argumentsEvent(span)),
      result: textOf(attributes, 'gen_ai.tool.call.result', 'anthropic.tool_result.content'),
      // Strands ends a span successfully if the tool reports a failure or does not exist.
      errorName: attributes['gen_ai.tool.status'] === 'error' ? 'Error' : undefined,
    };
  },
};
