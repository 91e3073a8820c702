import type { Dialect } from '../dialect.ts';
import { genAiDialect } from './gen-ai.ts';

/**
 * Strands. A finished tool has its own status attribute; one that waits for a person has none, and its span ends
 * successfully.
 */
export const strandsDialect: Dialect = {
  // The scope and the provider are the name of the user's service.
  speaks: ({ attributes }) => attributes['gen_ai.event.start_time'] !== undefined,
  read(span) {
    const tool = genAiDialect.read(span);
    const isWaiting = span.attributes['gen_ai.tool.status'] === undefined;
    return tool && (isWaiting ? { ...tool, errorName: 'InterruptError' } : tool);
  },
};
