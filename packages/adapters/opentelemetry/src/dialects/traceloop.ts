import type { Dialect } from '../dialect.ts';
import { answeredCall } from '../langchain-message.ts';
import { jsonOf, textOf } from '../span-attributes.ts';

/** Traceloop (OpenLLMetry). It uses the class of a LangChain tool; the name is only in the tool's result. */
export const traceloopDialect: Dialect = {
  // Its processor rewrites the spans of the AI SDK according to the conventions.
  speaks: ({ attributes }) =>
    attributes['traceloop.span.kind'] !== undefined && attributes['gen_ai.tool.name'] === undefined,
  read({ attributes, name }) {
    const isTool =
      attributes['gen_ai.operation.name'] === 'execute_tool' || attributes['traceloop.span.kind'] === 'tool';
    if (!isTool) return undefined;
    const result = textOf(attributes, 'traceloop.entity.output');
    const { toolName, callId } = answeredCall(result);
    const input = jsonOf(textOf(attributes, 'traceloop.entity.input'));
    const [first] = (input as { args?: unknown[] } | null | undefined)?.args ?? [];
    return {
      toolName: toolName ?? textOf(attributes, 'traceloop.entity.name') ?? name.replace(/^execute_tool /, ''),
      callId,
      arguments: typeof first === 'string' ? (jsonOf(first) ?? first) : first,
      result,
    };
  },
};
