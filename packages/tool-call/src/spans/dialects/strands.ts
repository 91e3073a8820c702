import type { Dialect, ToolSpan } from '../dialect.ts';
import type { GenAiSpan } from '../genai-span.ts';
import { textOf } from '../span-attributes.ts';
import { genAiTool } from './gen-ai.ts';

/** Texts with which Strands answers a call that a person or a hook cancels; the status is `error` nevertheless. */
const cancellation = /"(?:text|response)"\s*:\s*"tool (?:call |execution )?cancell?ed\b/i;
/** Text with which Strands answers the call of a tool that does not exist. */
const unknownTool = /"(?:text|response)"\s*:\s*"Unknown tool: /;

/**
 * Strands. A finished tool has its own status attribute; one that waits for a person has none, and its span ends
 * successfully.
 */
export const strandsDialect: Dialect = {
  // The scope and the provider are the name of the user's service.
  speaks: ({ attributes }) => attributes['gen_ai.event.start_time'] !== undefined,
  read(span) {
    const tool = genAiTool(span);
    return tool && { ...tool, errorName: errorNameOf(span, tool) };
  },
};

function errorNameOf(span: GenAiSpan, { errorName }: ToolSpan): string | undefined {
  if (span.attributes['gen_ai.tool.status'] === undefined) return 'InterruptError';
  if (errorName === undefined) return undefined;
  const answer = answerOf(span);
  if (cancellation.test(answer)) return 'CancelledError';
  return unknownTool.test(answer) ? 'NoSuchToolError' : errorName;
}

/** Returns the answer to the model, in the place of either version of the conventions. */
function answerOf({ events }: GenAiSpan): string {
  return events
    .map(({ attributes }) => textOf(attributes, 'message', 'gen_ai.output.messages') ?? '')
    .join('\n');
}
