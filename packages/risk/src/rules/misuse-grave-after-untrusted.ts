import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { toolName } from '../session-view.ts';
import { GRAVE_BITS } from '../taxonomy/tag.ts';

/** An action that can hardly be undone, after text of unknown authors. */
export const misuseGraveAfterUntrusted: Rule = {
  id: 'misuse.grave-after-untrusted',
  title: 'Hardly reversible action after text of unknown authors',
  dimension: 'ASI02',
  llm: ['LLM01:2025 Prompt Injection', 'LLM06:2025 Excessive Agency'],
  signal:
    'Something is sent, deleted, paid, run, or a right or secret is changed, after text came in that somebody else may have written.',
  weight: 0.14,
  cluster: 'grave-after-untrusted',
  precedented: true,
  falsePositives:
    'Agents whose work is to answer mail or to pay invoices do this every day; their baseline takes it back.',
  recommendation: {
    title: 'Put an approval before such actions',
    text: 'Write a policy with the effect require_approval for the tool, so that a person sees the action before it happens.',
  },
  detect(view) {
    const found = view.acts.filter((step) => step.afterUntrusted && (step.bits & GRAVE_BITS) !== 0);
    const first = found[0];
    if (first === undefined) return undefined;
    return matched(
      found,
      1,
      `${toolName(view, first.tool)} can hardly be undone, and was called after text of unknown authors had come in.`,
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
