import type { Dialect } from '../dialect.ts';
import { emitterOf } from '../span-origin.ts';
import { genAiDialect } from './gen-ai.ts';

/** `SpanStatusCode.UNSET` of the OpenTelemetry API. */
const unsetStatus = 0;

/** The SDK of Anthropic, its packages for other clouds too: each span has a status, but that of a run given up. */
export const anthropicDialect: Dialect = {
  speaks: (span) => /^com\.anthropic\.sdk\.typescript(\.|$)/.test(emitterOf(span)),
  read(span) {
    const tool = genAiDialect.read(span);
    return tool && { ...tool, errorName: span.status.code === unsetStatus ? 'AbortError' : undefined };
  },
};
