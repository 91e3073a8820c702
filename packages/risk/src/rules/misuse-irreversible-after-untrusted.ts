import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { toolName } from '../session/session-view.ts';
import { IRREVERSIBLE_BITS } from '../taxonomy/tag.ts';

/** Detects an irreversible action after untrusted content. */
export const misuseIrreversibleAfterUntrusted: Rule = {
  id: 'misuse.irreversible-after-untrusted',
  title: 'Irreversible action after untrusted content',
  dimension: 'ASI02',
  llm: ['LLM01:2025 Prompt Injection', 'LLM06:2025 Excessive Agency'],
  signal:
    'Something is sent, deleted, paid or run, or a permission or secret is changed, after untrusted content was read.',
  weight: 0.14,
  cluster: 'irreversible-after-untrusted',
  precedented: true,
  falsePositives: 'Agents that answer email or pay invoices do this every day; their baseline lowers this.',
  recommendation: {
    title: 'Require approval for such actions',
    text: 'Write a policy with the effect require_approval for the tool, so that a person reviews the action before it runs.',
  },
  detect(view) {
    const found = view.acts.filter((step) => step.afterUntrusted && (step.bits & IRREVERSIBLE_BITS) !== 0);
    const first = found[0];
    if (first === undefined) return undefined;
    return matched(
      found,
      1,
      `${toolName(view, first.tool)} is hard to undo and was called after untrusted content was read.`,
    );
  },
  fires: [
    { name: 'a payment after a document', steps: ['read_document', 'transfer_funds'] },
    { name: 'a role change after a ticket', steps: ['get_ticket', 'grant_role'] },
  ],
  quiet: [
    { name: 'a note after a document', steps: ['read_document', 'create_note'] },
    { name: 'a payment, and nothing read', steps: ['transfer_funds'] },
  ],
};
