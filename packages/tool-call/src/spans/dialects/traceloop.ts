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
    return {
      toolName: toolName ?? textOf(attributes, 'traceloop.entity.name') ?? name.replace(/^execute_tool /, ''),
      callId,
      arguments: argumentsIn(jsonOf(textOf(attributes, 'traceloop.entity.input'))),
      result,
    };
  },
};

/** Input of a function: positional and keyword arguments; with LangChain for Python, `inputs`. */
interface EntityInput {
  readonly args?: unknown;
  readonly kwargs?: unknown;
  readonly inputs?: unknown;
}

function argumentsIn(input: unknown): unknown {
  const { args, kwargs, inputs } = (input ?? {}) as EntityInput;
  if (!Array.isArray(args)) return inputs ?? undefined;
  if (args.length === 0) return kwargs ?? undefined;
  const [first] = args;
  return typeof first === 'string' ? (jsonOf(first) ?? first) : first;
}
