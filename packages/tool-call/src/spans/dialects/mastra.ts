import type { Dialect } from '../dialect.ts';
import { jsonOf } from '../span-attributes.ts';
import { genAiTool } from './gen-ai.ts';

/** Mastra. If a schema rejects arguments or result, the span ends successfully with the rejection as its result. */
export const mastraDialect: Dialect = {
  speaks: ({ attributes }) => attributes['mastra.span.type'] !== undefined,
  read(span) {
    const tool = genAiTool(span);
    return tool && { ...tool, errorName: validationError(jsonOf(tool.result)) ?? tool.errorName };
  },
};

function validationError(result: unknown): string | undefined {
  const { error, message, validationErrors } = (result ?? {}) as Record<string, unknown>;
  if (error !== true || typeof message !== 'string' || validationErrors === undefined) return undefined;
  return message.startsWith('Tool input') ? 'ZodError' : 'Error';
}
