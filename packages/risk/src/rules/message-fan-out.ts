import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { firstOf, lastOf, tallyOf } from '../session/session-view.ts';

const manyRecipients = 5;

/** Detects a session that sends messages to many agents. */
export const messageFanOut: Rule = {
  id: 'message.fan-out',
  title: 'Messages to many agents',
  dimension: 'ASI07',
  llm: ['LLM06:2025 Excessive Agency', 'LLM01:2025 Prompt Injection'],
  signal:
    'The session sends messages to five or more different agents, as a self-replicating instruction does.',
  weight: 0.3,
  falsePositives: 'Orchestrators; their baseline lowers this.',
  recommendation: {
    title: 'Check what the agents did with the message',
    text: 'Review the sessions of the addressed agents, and restrict the recipients of an agent with a policy.',
  },
  detect(view) {
    const recipients = view.state.recipients.size;
    if (recipients < manyRecipients) return undefined;
    const messages = tallyOf(view, 'message');
    const many = view.state.recipients.full ? `${recipients} or more` : String(recipients);
    return matched(
      [firstOf(messages), lastOf(messages)],
      Math.min(1, recipients / 10),
      `Messages went to ${many} different agents.`,
      messages.count,
    );
  },
  fires: [
    {
      name: 'six agents',
      steps: ['a', 'b', 'c', 'd', 'e', 'f'].map((to) => ({
        category: 'agent_message',
        payload: { toAgentId: to, contentHash: 'same' },
      })),
    },
  ],
  quiet: [
    {
      name: 'six messages to one agent',
      steps: [{ category: 'agent_message', payload: { toAgentId: 'a', contentHash: 'x' }, times: 6 }],
    },
  ],
};
