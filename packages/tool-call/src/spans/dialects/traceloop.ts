import type { Dialect } from '../dialect.ts';
import { answeredCall } from '../langchain-message.ts';
import { toolFacts } from '../tool-facts.ts';

/** Traceloop (OpenLLMetry). It uses the class of a LangChain tool; the name is only in the tool's result. */
export const traceloopDialect: Dialect = {
  // Its processor rewrites the spans of the AI SDK according to the conventions.
  speaks: ({ attributes }) =>
    attributes['traceloop.span.kind'] !== undefined && attributes['gen_ai.tool.name'] === undefined,
  read(span) {
    const { attributes } = span;
    const isTool =
      attributes['gen_ai.operation.name'] === 'execute_tool' || attributes['traceloop.span.kind'] === 'tool';
    if (!isTool) return undefined;
    const tool = toolFacts(span);
    return { ...tool, toolName: answeredCall(tool.result).toolName ?? tool.toolName };
  },
};
