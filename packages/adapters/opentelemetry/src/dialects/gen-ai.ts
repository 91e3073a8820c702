import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { Dialect } from '../dialect.ts';
import { jsonOf, textOf } from '../span-attributes.ts';

/** Where earlier versions of the conventions put the arguments, as Strands does. */
function argumentsEvent({ events }: ReadableSpan): string | undefined {
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
      // Strands ends a span well where the tool answers that it failed, or is not there.
      errorName: attributes['gen_ai.tool.status'] === 'error' ? 'Error' : undefined,
    };
  },
};
