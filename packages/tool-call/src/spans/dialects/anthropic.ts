import type { Dialect } from '../dialect.ts';
import { scopeOf } from '../genai-span.ts';
import { genAiTool } from './gen-ai.ts';

/** `SpanStatusCode.UNSET` of the OpenTelemetry API. */
const unsetStatus = 0;

/** Anthropic's SDK, including its packages for other clouds. Every span has a status, except that of an aborted run. */
export const anthropicDialect: Dialect = {
  speaks: (span) => /^com\.anthropic\.sdk\.typescript(\.|$)/.test(scopeOf(span)),
  read(span) {
    const tool = genAiTool(span);
    return tool && { ...tool, errorName: span.status.code === unsetStatus ? 'AbortError' : tool.errorName };
  },
};
