import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { firstOf, tallyOf, toolName } from '../session/session-view.ts';

/** Detects files that got content with a host from outside the workspace. */
export const executionForeignFile: Rule = {
  id: 'execution.foreign-file',
  title: 'File with a host from a text from outside',
  dimension: 'ASI05',
  llm: ['LLM01:2025 Prompt Injection', 'LLM03:2025 Supply Chain'],
  signal:
    'A file was written whose content names a host that stood in a web page, a mail or an issue: a build file with such a line runs it on the next build. It counts more if such a text also named the file.',
  weight: 0.97,
  acts: ['file_copied', 'file_named'],
  habitual: false,
  falsePositives:
    'Writing links to sources into a document, or the address of a service into a configuration.',
  recommendation: {
    title: 'Review the file before it is used',
    text: 'Look for the host in the file, and for what the next build or run would do with it.',
  },
  detect(view) {
    const copied = tallyOf(view, 'file_copied');
    if (copied.count === 0) return undefined;
    const first = firstOf(copied);
    const named = tallyOf(view, 'file_named');
    return matched(
      named.count > 0 ? [firstOf(named), first] : [first],
      named.count > 0 ? 1 : 0.35,
      `${toolName(view, first.tool)} wrote a file that names a host from a text from outside the workspace.`,
      copied.count,
    );
  },
  fires: [
    {
      name: 'a build file with a host from an issue',
      steps: [
        'get_issue',
        {
          tool: 'write_file',
          origins: { 'content.host': { from: 'tool', as: 'text', toolName: 'get_issue' } },
        },
      ],
    },
  ],
  quiet: [
    {
      name: 'a host from another file',
      steps: [
        'read_file',
        {
          tool: 'write_file',
          origins: { 'content.host': { from: 'tool', as: 'text', toolName: 'read_file' } },
        },
      ],
    },
  ],
};
