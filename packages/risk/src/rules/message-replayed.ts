import type { Rule } from '../rule.ts';
import { stamped } from '../rule-match.ts';

/** Another agent's message sent again. */
export const messageReplayed: Rule = {
  id: 'message.replayed',
  title: 'Another agent’s message sent again',
  dimension: 'ASI07',
  llm: ['LLM01:2025 Prompt Injection'],
  signal:
    'A message has the very content that another agent had sent: it is replayed, or spreads by copying itself.',
  weight: 0.25,
  falsePositives: 'Relays, and short messages such as "done".',
  recommendation: {
    title: 'Follow the message back',
    text: 'Find the first sender and what it had read. Let agents sign what they send, with a number used once.',
  },
  detect: (view) =>
    stamped(view, 'message_replayed', 1, 'A message repeats what another agent had sent before.'),
  fires: [
    {
      name: 'stamped',
      steps: [
        {
          category: 'agent_message',
          payload: { toAgentId: 'b', contentHash: 'x' },
          stamps: ['message_replayed'],
        },
      ],
    },
  ],
  quiet: [
    {
      name: 'a message of its own',
      steps: [{ category: 'agent_message', payload: { toAgentId: 'b', contentHash: 'x' } }],
    },
  ],
};
