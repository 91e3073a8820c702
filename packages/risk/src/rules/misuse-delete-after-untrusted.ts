import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { sequence, tallyOf, toolName } from '../session/session-view.ts';

/** Detects a deletion after untrusted content. */
export const misuseDeleteAfterUntrusted: Rule = {
  id: 'misuse.delete-after-untrusted',
  title: 'Deletion after untrusted content',
  dimension: 'ASI02',
  llm: ['LLM01:2025 Prompt Injection', 'LLM06:2025 Excessive Agency'],
  signal: 'Something is deleted or canceled, or a member is removed, after untrusted content was read.',
  weight: 0.43,
  acts: ['delete'],
  circumstantial: true,
  precedented: true,
  falsePositives: 'Cleanup tasks, which read before they delete.',
  recommendation: {
    title: 'Restore what was deleted, then find the reason',
    text: 'Check that the user wanted the deletion. Give the agent a tool that moves things to a trash folder instead.',
  },
  detect(view) {
    const found = sequence(view, 'ingest_untrusted', 'delete');
    if (found === undefined) return undefined;
    const [read, act] = found;
    return matched(
      [read, act],
      1,
      `${toolName(view, act.tool)} deleted or removed something after untrusted content was read.`,
      tallyOf(view, 'delete').count + 1,
    );
  },
  fires: [
    { name: 'reads mail, deletes a file', steps: ['read_email', 'delete_file'] },
    { name: 'reads messages, removes a member', steps: ['messages.list', 'members.remove'] },
  ],
  quiet: [
    { name: 'deletes before it reads', steps: ['delete_file', 'read_email'] },
    { name: 'reads mail, moves a file', steps: ['read_email', 'move_file'] },
  ],
};
