import type { Dialect } from '../dialect.ts';
import { jsonOf, textOf } from '../span-attributes.ts';
import { emitterOf } from '../span-origin.ts';

/** Google's Agent Development Kit, which leaves the span of a failed tool without attributes and without a status. */
export const adkDialect: Dialect = {
  speaks: (span) => emitterOf(span) === 'gcp.vertex.agent',
  read({ attributes, name }) {
    const ofSpan = /^execute_tool (.+)$/.exec(name)?.[1];
    // The tools of one turn have a span together, and one each.
    if (ofSpan === undefined || ofSpan === '(merged)') return undefined;
    const toolName = textOf(attributes, 'gen_ai.tool.name');
    return {
      toolName: toolName ?? ofSpan,
      callId: textOf(attributes, 'gen_ai.tool.call.id'),
      arguments: jsonOf(textOf(attributes, 'gcp.vertex.agent.tool_call_args')),
      result: textOf(attributes, 'gcp.vertex.agent.tool_response'),
      hasFailed: toolName === undefined,
    };
  },
};
