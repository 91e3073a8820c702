import type { Dialect } from '../dialect.ts';
import { scopeOf, textOf } from '../genai-span.ts';
import { toolFacts } from '../tool-facts.ts';

/** Instrumentation scope of Pydantic AI, with Logfire or without. */
export const pydanticAi = 'pydantic-ai';

/**
 * Pydantic AI for Python (`InstrumentationSettings`), in all versions of its format: versions 1 and 2 have names of
 * their own for arguments and result, and no `gen_ai.operation.name`.
 */
export const pydanticAiDialect: Dialect = {
  speaks: (span) => scopeOf(span) === pydanticAi,
  read(span) {
    const { attributes } = span;
    const operation = textOf(attributes, 'gen_ai.operation.name') ?? 'execute_tool';
    if (textOf(attributes, 'gen_ai.tool.name') === undefined || operation !== 'execute_tool')
      return undefined;
    // A tool that waits for approval, or runs elsewhere, has not run; its span ends successfully.
    const isDeferred = attributes['pydantic_ai.tool.deferral.name'] !== undefined;
    const tool = toolFacts(span);
    return isDeferred ? { ...tool, errorName: 'InterruptError' } : tool;
  },
};
