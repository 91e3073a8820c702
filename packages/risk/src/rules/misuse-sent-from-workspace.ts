import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { firstOf, tallyOf, toolName } from '../session/session-view.ts';

/** Detects outgoing actions that a text aimed, by an agent that runs code. */
export const misuseSentFromWorkspace: Rule = {
  id: 'misuse.sent-from-workspace',
  title: 'Sent from a workspace to where a text said',
  dimension: 'ASI02',
  llm: ['LLM01:2025 Prompt Injection', 'LLM02:2025 Sensitive Information Disclosure'],
  signal:
    "An agent that runs code or commands also sends, publishes or pays something, and a tool's text named the destination: code and secrets of the workspace may leave.",
  weight: 0.92,
  acts: ['sent_aimed'],
  habitual: false,
  falsePositives: 'An agent that reports to a tracker that a document names.',
  recommendation: {
    title: 'Keep code and communication apart',
    text: 'Give agents that run code no tools that send, or allow only known destinations with a policy.',
  },
  detect(view) {
    const sent = tallyOf(view, 'sent_aimed');
    const runs = tallyOf(view, 'exec');
    if (sent.count === 0 || runs.count === 0) return undefined;
    const first = firstOf(sent);
    return matched(
      [firstOf(runs), first],
      1,
      `${toolName(view, first.tool)} sent something to a destination from a text, in a session that runs code.`,
      sent.count,
    );
  },
  fires: [
    {
      name: 'a coding agent opens an issue elsewhere',
      steps: [
        'run_shell',
        'get_issue',
        {
          tool: 'create_issue',
          origins: { repo: { from: 'tool', as: 'text', toolName: 'get_issue' }, title: { from: 'model' } },
        },
      ],
    },
  ],
  quiet: [
    {
      name: 'the user named the repository',
      steps: ['run_shell', 'get_issue', { tool: 'create_issue', origins: { repo: { from: 'user' } } }],
    },
    {
      name: 'no code is run',
      steps: [
        'get_issue',
        { tool: 'create_issue', origins: { repo: { from: 'tool', as: 'text', toolName: 'get_issue' } } },
      ],
    },
  ],
};
