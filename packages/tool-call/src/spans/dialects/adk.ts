import type { Dialect } from '../dialect.ts';
import { scopeOf } from '../genai-span.ts';
import { textOf } from '../span-attributes.ts';
import { toolFacts } from '../tool-facts.ts';

/** Google's Agent Development Kit. The span of a failed tool has no attributes and no status. */
export const adkDialect: Dialect = {
  speaks: (span) => scopeOf(span) === 'gcp.vertex.agent',
  read(span) {
    const ofSpan = /^execute_tool (.+)$/.exec(span.name)?.[1];
    // The tools of one turn have a common span, and one each.
    if (ofSpan === undefined || ofSpan === '(merged)') return undefined;
    const tool = toolFacts(span);
    const isNamed = textOf(span.attributes, 'gen_ai.tool.name', 'tool.name') !== undefined;
    return isNamed ? tool : { ...tool, errorName: tool.errorName ?? 'Error' };
  },
};
