import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { sequence, tallyOf, toolName } from '../session/session-view.ts';

/** Detects the use of a secret or a permission change after untrusted content. */
export const privilegeSecretAfterUntrusted: Rule = {
  id: 'privilege.secret-after-untrusted',
  title: 'Secret or permission used after untrusted content',
  dimension: 'ASI03',
  llm: ['LLM01:2025 Prompt Injection', 'LLM02:2025 Sensitive Information Disclosure'],
  signal: 'A secret is read or set, or a permission or account is changed, after untrusted content was read.',
  weight: 0.28,
  acts: ['rights'],
  circumstantial: true,
  cluster: 'irreversible-after-untrusted',
  precedented: true,
  falsePositives: 'Support agents that change accounts because a ticket asks for it.',
  recommendation: {
    title: 'Revoke what may have leaked',
    text: 'Rotate the secret or revoke the permission, then check the text that was read before. Hold such tools for approval.',
  },
  detect(view) {
    const found = sequence(view, 'ingest_untrusted', 'rights');
    if (found === undefined) return undefined;
    const [read, act] = found;
    return matched(
      [read, act],
      1,
      `${toolName(view, act.tool)} used a secret or changed a permission after untrusted content was read.`,
      tallyOf(view, 'rights').count + 1,
    );
  },
  fires: [
    { name: 'reads a ticket, gets a secret', steps: ['get_ticket', 'get_secret'] },
    { name: 'reads a page, changes the password', steps: ['fetch_url', 'update_password'] },
  ],
  quiet: [
    { name: 'gets a secret first', steps: ['get_secret', 'get_ticket'] },
    { name: 'reads a ticket, closes it', steps: ['get_ticket', 'close_ticket'] },
  ],
};
