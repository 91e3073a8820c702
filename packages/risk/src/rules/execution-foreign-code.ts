import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { firstOf, tallyOf, toolName } from '../session/session-view.ts';

/** Detects commands that were copied from a text from outside. */
export const executionForeignCode: Rule = {
  id: 'execution.foreign-code',
  title: 'Command copied from a text from outside',
  dimension: 'ASI05',
  llm: ['LLM01:2025 Prompt Injection', 'LLM05:2025 Improper Output Handling'],
  signal: 'A command of four words or more was copied from a web page, a mail or an issue, and run.',
  weight: 0.97,
  acts: ['shell_copied'],
  habitual: false,
  falsePositives: 'Following the installation steps of a manual that the user asked for.',
  recommendation: {
    title: 'Run downloaded commands only after a look',
    text: 'Hold commands that came from a text with a policy on argument origins, or run them in a sandbox.',
  },
  detect(view) {
    const copied = tallyOf(view, 'shell_copied');
    if (copied.count === 0) return undefined;
    const first = firstOf(copied);
    return matched(
      [first],
      1,
      `${toolName(view, first.tool)} ran what stood in a text from outside the workspace.`,
      copied.count,
    );
  },
  fires: [
    {
      name: 'a command from a web page',
      steps: [
        'fetch_url',
        { tool: 'run_shell', origins: { command: { from: 'tool', as: 'text', toolName: 'fetch_url' } } },
      ],
    },
  ],
  quiet: [
    {
      name: 'a command that the model wrote',
      steps: ['fetch_url', { tool: 'run_shell', origins: { command: { from: 'model' } } }],
    },
    {
      name: 'the clock is nobody’s text',
      steps: [
        'get_current_time',
        {
          tool: 'run_shell',
          origins: { command: { from: 'tool', as: 'text', toolName: 'get_current_time' } },
        },
      ],
    },
  ],
};
