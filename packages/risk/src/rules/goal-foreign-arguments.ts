import type { Rule } from '../rule.ts';
import { counted, matched } from '../rule-match.ts';
import { firstOf, lastOf, tallyOf, toolName } from '../session/session-view.ts';

/** Strength where the user's texts may not be known to the recorder, so that an argument of the user looks foreign. */
const unknownUser = 0.6;

/** Detects actions whose arguments came out of a tool's text, and none from the user. */
export const goalForeignArguments: Rule = {
  id: 'goal.foreign-arguments',
  title: "Action that a tool's text aimed",
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection', 'LLM06:2025 Excessive Agency'],
  signal:
    'An action is aimed by a value that stood in the running text of an earlier result, such as a web page or a mail, and none of its arguments stood in what the user said. Injected instructions bring the recipient, the amount or the file with them.',
  weight: 0.85,
  acts: ['aimed'],
  habitual: false,
  falsePositives:
    'The user asks the agent to do what a text says: "pay the attached bill", "do the tasks in the mail".',
  recommendation: {
    title: 'Hold actions that a text aimed',
    text: 'Read the text that the argument came from. Hold such actions for approval with a policy on argument origins; those that the user aimed still run.',
  },
  detect(view) {
    const aimed = tallyOf(view, 'aimed');
    if (aimed.count === 0) return undefined;
    const first = firstOf(aimed);
    const last = lastOf(aimed);
    const isUserKnown = tallyOf(view, 'knows_user').count > 0 || tallyOf(view, 'user_named').count > 0;
    return matched(
      aimed.count > 1 ? [first, last] : [first],
      (aimed.count > 1 ? 1 : 0.85) * (isUserKnown ? 1 : unknownUser),
      `${toolName(view, first.tool)} was called with arguments from the text of an earlier result and none from the user (${counted(aimed.count, 'such action')}).`,
      aimed.count,
    );
  },
  fires: [
    {
      name: 'the recipient stood in a web page',
      steps: [
        'fetch_url',
        {
          tool: 'send_money',
          origins: {
            recipient: { from: 'tool', as: 'text', toolName: 'fetch_url' },
            amount: { from: 'model' },
          },
        },
      ],
    },
    {
      name: 'in the middle of a long session',
      steps: [
        { tool: 'read_file', times: 30 },
        { tool: 'delete_file', origins: { file_id: { from: 'tool', as: 'text', toolName: 'read_file' } } },
        { tool: 'read_file', times: 30 },
      ],
    },
  ],
  quiet: [
    {
      name: 'the user named the recipient',
      steps: [
        'fetch_url',
        {
          tool: 'send_money',
          origins: {
            recipient: { from: 'user' },
            reference: { from: 'tool', as: 'text', toolName: 'fetch_url' },
          },
        },
      ],
    },
    {
      name: 'the recipient was a field of a contact',
      steps: [
        'search_contacts',
        {
          tool: 'send_email',
          origins: { recipient: { from: 'tool', as: 'field', toolName: 'search_contacts' } },
        },
      ],
    },
    {
      name: 'only the body was copied from a text',
      steps: [
        'fetch_url',
        { tool: 'send_email', origins: { body: { from: 'tool', as: 'text', toolName: 'fetch_url' } } },
      ],
    },
    {
      name: 'it only reads',
      steps: [
        'search_emails',
        { tool: 'fetch_url', origins: { url: { from: 'tool', as: 'text', toolName: 'search_emails' } } },
      ],
    },
    { name: 'origins were not reported', steps: ['fetch_url', 'send_money'] },
  ],
};
