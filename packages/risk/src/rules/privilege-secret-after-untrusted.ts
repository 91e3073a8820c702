import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { toolName } from '../session-view.ts';
import { tagBits } from '../taxonomy/tag.ts';

const RIGHTS = tagBits('credential', 'admin');

/** A secret or a right touched after text of unknown authors. */
export const privilegeSecretAfterUntrusted: Rule = {
  id: 'privilege.secret-after-untrusted',
  title: 'Secret or right touched after text of unknown authors',
  dimension: 'ASI03',
  llm: ['LLM01:2025 Prompt Injection', 'LLM02:2025 Sensitive Information Disclosure'],
  signal:
    'A secret is read or set, or a right or account changed, after text came in that somebody else may have written.',
  weight: 0.28,
  cluster: 'grave-after-untrusted',
  precedented: true,
  falsePositives: 'Support agents that change accounts because a ticket asks for it.',
  recommendation: {
    title: 'Revoke what may have leaked',
    text: 'Rotate the secret or take the right back, then read the text that came before. Hold such tools for approval.',
  },
  detect(view) {
    const found = view.acts.filter((step) => step.afterUntrusted && (step.bits & RIGHTS) !== 0);
    const first = found[0];
    if (first === undefined) return undefined;
    return matched(
      found,
      1,
      `${toolName(view, first.tool)} touched a secret or a right after text of unknown authors had come in.`,
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
