import type { Dialect } from '../dialect.ts';
import { scopeOf } from '../genai-span.ts';
import { genAiTool } from './gen-ai.ts';

/** `@ai-sdk/otel`. When a run is aborted, it ends the span of a running tool unchanged. */
export const aiSdkOtelDialect: Dialect = {
  speaks: (span) => scopeOf(span) === 'gen_ai',
  read(span) {
    const tool = genAiTool(span);
    const { 'gen_ai.execute_tool.duration': duration, 'gen_ai.tool.type': type } = span.attributes;
    const hasEnded = duration !== undefined || tool?.result !== undefined || type !== 'function';
    return tool && (hasEnded ? tool : { ...tool, errorName: 'AbortError' });
  },
};
