import type { Dialect } from '../dialect.ts';
import { jsonOf, textOf } from '../span-attributes.ts';

/** The Vercel AI SDK: the telemetry of `ai` 5 and 6, and `LegacyOpenTelemetry` of `@ai-sdk/otel`. */
export const aiSdkDialect: Dialect = {
  speaks: ({ attributes }) => attributes['ai.operationId'] !== undefined,
  read({ attributes }) {
    const toolName = textOf(attributes, 'ai.toolCall.name');
    if (attributes['ai.operationId'] !== 'ai.toolCall' || toolName === undefined) return undefined;
    return {
      toolName,
      callId: textOf(attributes, 'ai.toolCall.id'),
      arguments: jsonOf(textOf(attributes, 'ai.toolCall.args')),
      result: textOf(attributes, 'ai.toolCall.result'),
    };
  },
};
