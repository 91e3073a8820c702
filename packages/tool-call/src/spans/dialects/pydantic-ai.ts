import type { Dialect } from '../dialect.ts';
import { scopeOf } from '../genai-span.ts';
import { jsonOf, textOf } from '../span-attributes.ts';

/** Instrumentation scope of Pydantic AI, with Logfire or without. */
export const pydanticAi = 'pydantic-ai';

/**
 * Pydantic AI for Python (`InstrumentationSettings`), in all versions of its format: versions 1 and 2 have names of
 * their own for arguments and result, and no `gen_ai.operation.name`.
 */
export const pydanticAiDialect: Dialect = {
  speaks: (span) => scopeOf(span) === pydanticAi,
  read({ attributes }) {
    const toolName = textOf(attributes, 'gen_ai.tool.name');
    const operation = textOf(attributes, 'gen_ai.operation.name') ?? 'execute_tool';
    if (toolName === undefined || operation !== 'execute_tool') return undefined;
    // A tool that waits for approval, or runs elsewhere, has not run; its span ends successfully.
    const isDeferred = attributes['pydantic_ai.tool.deferral.name'] !== undefined;
    return {
      toolName,
      callId: textOf(attributes, 'gen_ai.tool.call.id'),
      arguments: jsonOf(textOf(attributes, 'gen_ai.tool.call.arguments', 'tool_arguments')),
      result: textOf(attributes, 'gen_ai.tool.call.result', 'tool_response'),
      errorName: isDeferred ? 'InterruptError' : undefined,
    };
  },
};
