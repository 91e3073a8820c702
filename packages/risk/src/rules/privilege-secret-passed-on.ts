import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { firstOf, tallyOf, toolName } from '../session/session-view.ts';

/** Detects results of tools for secrets in the arguments of other actions. */
export const privilegeSecretPassedOn: Rule = {
  id: 'privilege.secret-passed-on',
  title: 'Secret in the arguments of another action',
  dimension: 'ASI03',
  llm: ['LLM02:2025 Sensitive Information Disclosure'],
  signal:
    'An argument of an action stood in the result of a tool that handles secrets: a password, a key or a token was put into a message, a file or a request.',
  weight: 0.6,
  acts: ['secret_passed'],
  falsePositives: 'Agents that sign in with a password that they look up.',
  recommendation: {
    title: 'Keep secrets out of the hands of the model',
    text: 'Give tools their credentials directly, and replace the secret that was passed on.',
  },
  detect(view) {
    const passed = tallyOf(view, 'secret_passed');
    if (passed.count === 0) return undefined;
    const first = firstOf(passed);
    return matched(
      [first],
      1,
      `${toolName(view, first.tool)} was called with what a tool for secrets returned.`,
      passed.count,
    );
  },
  fires: [
    {
      name: 'a token is sent',
      steps: [
        'get_api_token',
        { tool: 'send_message', origins: { text: { from: 'tool', as: 'field', toolName: 'get_api_token' } } },
      ],
    },
  ],
  quiet: [
    {
      name: 'a login with the password that was looked up',
      steps: [
        'get_password',
        { tool: 'login', origins: { password: { from: 'tool', as: 'field', toolName: 'get_password' } } },
      ],
    },
    {
      name: 'a message with other data',
      steps: [
        'get_api_token',
        'get_contact',
        { tool: 'send_message', origins: { text: { from: 'tool', as: 'field', toolName: 'get_contact' } } },
      ],
    },
  ],
};
