import type { Dialect } from '../dialect.ts';
import { scopeOf } from '../genai-span.ts';
import { jsonOf, textOf } from '../span-attributes.ts';

/** Value of both arguments and result if `ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS` is off. */
const redacted = '{}';

/** Google's Agent Development Kit. The span of a failed tool has no attributes and no status. */
export const adkDialect: Dialect = {
  speaks: (span) => scopeOf(span) === 'gcp.vertex.agent',
  read({ attributes, name }) {
    const ofSpan = /^execute_tool (.+)$/.exec(name)?.[1];
    // The tools of one turn have a common span, and one each.
    if (ofSpan === undefined || ofSpan === '(merged)') return undefined;
    const toolName = textOf(attributes, 'gen_ai.tool.name');
    const args = textOf(attributes, 'gcp.vertex.agent.tool_call_args');
    const result = textOf(attributes, 'gcp.vertex.agent.tool_response');
    return {
      toolName: toolName ?? ofSpan,
      callId: textOf(attributes, 'gen_ai.tool.call.id'),
      arguments: args === redacted && result === redacted ? undefined : jsonOf(args),
      result,
      errorName: toolName === undefined ? 'Error' : undefined,
    };
  },
};
