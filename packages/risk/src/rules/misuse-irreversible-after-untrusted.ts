import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { sequence, tallyOf, toolName } from '../session/session-view.ts';

/** Detects an irreversible action after untrusted content. */
export const misuseIrreversibleAfterUntrusted: Rule = {
  id: 'misuse.irreversible-after-untrusted',
  title: 'Irreversible action after untrusted content',
  dimension: 'ASI02',
  llm: ['LLM01:2025 Prompt Injection', 'LLM06:2025 Excessive Agency'],
  signal:
    'Something is sent, deleted, paid or run, or a permission or secret is changed, after untrusted content was read.',
  weight: 0.2,
  acts: ['final'],
  circumstantial: true,
  cluster: 'irreversible-after-untrusted',
  precedented: true,
  falsePositives: 'Agents that answer email or pay invoices do this every day; their baseline lowers this.',
  recommendation: {
    title: 'Require approval for such actions',
    text: 'Write a policy with the effect require_approval for the tool, so that a person reviews the action before it runs.',
  },
  detect(view) {
    const found = sequence(view, 'ingest_untrusted', 'final');
    if (found === undefined) return undefined;
    const [read, act] = found;
    return matched(
      [read, act],
      1,
      `${toolName(view, act.tool)} is hard to undo and was called after untrusted content was read.`,
      tallyOf(view, 'final').count + 1,
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
