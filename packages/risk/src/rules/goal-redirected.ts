import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { firstOf, tallyOf, toolName } from '../session/session-view.ts';

/** Detects actions of the user's whose destination came from a tool's text. */
export const goalRedirected: Rule = {
  id: 'goal.redirected',
  title: "Action whose destination a tool's text named",
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection', 'LLM02:2025 Sensitive Information Disclosure'],
  signal:
    "The recipient, the account or the address of an action stood in a tool's text and not in what the user said, while other arguments came from the user: their payment goes to another account.",
  weight: 0.45,
  acts: ['redirected'],
  habitual: false,
  falsePositives: 'The user gives the amount or the date, and a document gives the recipient.',
  recommendation: {
    title: 'Confirm the destination',
    text: 'Compare the destination with what the user asked for. Hold such actions with a policy on argument origins.',
  },
  detect(view) {
    const redirected = tallyOf(view, 'redirected');
    if (redirected.count === 0) return undefined;
    const first = firstOf(redirected);
    return matched(
      [first],
      redirected.count > 1 ? 1 : 0.85,
      `${toolName(view, first.tool)} went to a destination from the text of an earlier result, with other arguments of the user.`,
      redirected.count,
    );
  },
  fires: [
    {
      name: "the user's amount goes to an account in a mail",
      steps: [
        'search_emails',
        {
          tool: 'send_money',
          origins: {
            recipient: { from: 'tool', as: 'text', toolName: 'search_emails' },
            amount: { from: 'user' },
          },
        },
      ],
    },
  ],
  quiet: [
    {
      name: 'the user named the account',
      steps: [
        'search_emails',
        {
          tool: 'send_money',
          origins: {
            recipient: { from: 'user' },
            amount: { from: 'tool', as: 'text', toolName: 'search_emails' },
          },
        },
      ],
    },
  ],
};
