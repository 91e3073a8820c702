import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { firstOf, tallyOf, toolName } from '../session/session-view.ts';

/** Detects actions that the user and a tool's text aimed together. */
export const goalPartlyForeign: Rule = {
  id: 'goal.partly-foreign',
  title: "Action that the user and a tool's text aimed",
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection'],
  signal:
    "One argument of an action stood in what the user said, another one that it is aimed at in a tool's text: a known recipient with another account number, a known user with another group.",
  weight: 0.2,
  acts: ['partly'],
  falsePositives: 'The user names one part and leaves the other to a document. Counts little by itself.',
  recommendation: {
    title: 'Check the part that the user did not name',
    text: 'Look at the argument that came from a text, and at that text.',
  },
  detect(view) {
    const partly = tallyOf(view, 'partly');
    if (partly.count === 0) return undefined;
    const first = firstOf(partly);
    return matched(
      [first],
      1,
      `${toolName(view, first.tool)} was called with one argument from the user and another from the text of an earlier result.`,
      partly.count,
    );
  },
  fires: [
    {
      name: 'an amount from a mail',
      steps: [
        'search_emails',
        {
          tool: 'pay_invoice',
          origins: {
            name: { from: 'user' },
            amount: { from: 'tool', as: 'text', toolName: 'search_emails' },
          },
        },
      ],
    },
  ],
  quiet: [
    {
      name: 'an account number from a record',
      steps: [
        'get_contact',
        {
          tool: 'pay_invoice',
          origins: { name: { from: 'user' }, iban: { from: 'tool', as: 'field', toolName: 'get_contact' } },
        },
      ],
    },
    {
      name: 'only the content is from a mail',
      steps: [
        'search_emails',
        {
          tool: 'send_message',
          origins: {
            recipient: { from: 'user' },
            body: { from: 'tool', as: 'text', toolName: 'search_emails' },
          },
        },
      ],
    },
  ],
};
