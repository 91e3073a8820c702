import type { Rule } from '../rule.ts';
import { stamped } from '../rule-match.ts';

/** Detects a message that another agent already sent. */
export const messageReplayed: Rule = {
  id: 'message.replayed',
  title: 'Message of another agent repeated',
  dimension: 'ASI07',
  llm: ['LLM01:2025 Prompt Injection'],
  signal:
    'A message has the same content as an earlier message of another agent: it was replayed or replicates itself.',
  weight: 0.25,
  falsePositives: 'Relays, and short messages such as "done".',
  recommendation: {
    title: 'Trace the message',
    text: 'Find the first sender and what it had read. Let agents sign their messages with a nonce.',
  },
  detect: (view) =>
    stamped(view, 'message_replayed', 1, 'A message repeats an earlier message of another agent.'),
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
