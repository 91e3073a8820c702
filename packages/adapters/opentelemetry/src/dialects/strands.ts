import type { Dialect } from '../dialect.ts';
import { genAiDialect } from './gen-ai.ts';

/** Strands. A tool that has ended has a status of its own; one that waits for a person has none, and its span ends well. */
export const strandsDialect: Dialect = {
  // The scope and the provider are the name of the user's service.
  speaks: ({ attributes }) => attributes['gen_ai.event.start_time'] !== undefined,
  read(span) {
    const tool = genAiDialect.read(span);
    const isWaiting = span.attributes['gen_ai.tool.status'] === undefined;
    return tool && (isWaiting ? { ...tool, errorName: 'InterruptError' } : tool);
  },
};
