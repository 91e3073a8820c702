import type { Dialect } from '../dialect.ts';
import { jsonOf } from '../span-attributes.ts';
import { genAiDialect } from './gen-ai.ts';

/** Mastra, which ends the span of a call well whose arguments or result a schema refuses, and shows that as its result. */
export const mastraDialect: Dialect = {
  speaks: ({ attributes }) => attributes['mastra.span.type'] !== undefined,
  read(span) {
    const tool = genAiDialect.read(span);
    return tool && { ...tool, errorName: refusal(jsonOf(tool.result)) };
  },
};

function refusal(result: unknown): string | undefined {
  const { error, message, validationErrors } = (result ?? {}) as Record<string, unknown>;
  if (error !== true || typeof message !== 'string' || validationErrors === undefined) return undefined;
  return message.startsWith('Tool input') ? 'ZodError' : 'Error';
}
