import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { firstOf, tallyOf, toolName } from '../session/session-view.ts';

/** Detects commands that name a host from a tool's text. */
export const executionForeignHost: Rule = {
  id: 'execution.foreign-host',
  title: "Command with a host from a tool's text",
  dimension: 'ASI05',
  llm: ['LLM01:2025 Prompt Injection', 'LLM02:2025 Sensitive Information Disclosure'],
  signal:
    'A command names a host that stood in the text of an earlier result and not in what the user said: it downloads from there or sends something there.',
  weight: 0.97,
  acts: ['shell_host'],
  habitual: false,
  falsePositives: 'Downloading what the documentation of a project names.',
  recommendation: {
    title: 'Allow only known hosts',
    text: 'Run commands in a sandbox that reaches only the hosts that the work needs, and check what went to this one.',
  },
  detect(view) {
    const named = tallyOf(view, 'shell_host');
    if (named.count === 0) return undefined;
    const first = firstOf(named);
    return matched(
      [first],
      1,
      `${toolName(view, first.tool)} ran a command with a host from the text of an earlier result.`,
      named.count,
    );
  },
  fires: [
    {
      name: 'a script from a web page',
      steps: [
        'fetch_url',
        {
          tool: 'run_shell',
          origins: {
            command: { from: 'model' },
            'command.host': { from: 'tool', as: 'text', toolName: 'fetch_url' },
          },
        },
      ],
    },
  ],
  quiet: [
    {
      name: 'the user named the host',
      steps: ['fetch_url', { tool: 'run_shell', origins: { command: { from: 'user' } } }],
    },
    {
      name: 'a file that names a host is edited',
      steps: [
        'read_file',
        {
          tool: 'edit_file',
          origins: { 'new_string.host': { from: 'tool', as: 'text', toolName: 'read_file' } },
        },
      ],
    },
  ],
};
