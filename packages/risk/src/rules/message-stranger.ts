import type { Rule } from '../rule.ts';
import { stamped } from '../rule-match.ts';
import { stampTallyOf } from '../session/session-view.ts';

/** Detects an unregistered agent that takes part in a session. */
export const messageStranger: Rule = {
  id: 'message.stranger',
  title: 'Unknown agent in a shared session',
  dimension: 'ASI07',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'An unregistered agent joins a session of other agents, or a message goes to an unknown agent.',
  weight: 0.3,
  falsePositives: 'New agents that were not registered yet.',
  recommendation: {
    title: 'Register the agent or block it',
    text: 'If the agent is yours, register it. Otherwise rotate the key that it uses.',
  },
  detect(view) {
    const isMixed =
      view.state.agents.size > 1 && stampTallyOf(view, 'agent_unregistered').count < view.state.eventCount;
    return (
      (isMixed &&
        stamped(
          view,
          'agent_unregistered',
          1,
          'An unregistered agent took part in a session of other agents.',
        )) ||
      stamped(view, 'recipient_unknown', 0.7, 'A message went to an agent that is unknown to this tenant.')
    );
  },
  fires: [
    {
      name: 'a stranger joins',
      steps: ['read_file', { tool: 'read_file', agent: 'stranger', stamps: ['agent_unregistered'] }],
    },
    {
      name: 'a message to nobody known',
      steps: [
        {
          category: 'agent_message',
          payload: { toAgentId: 'x', contentHash: 'c' },
          stamps: ['recipient_unknown'],
        },
      ],
    },
  ],
  quiet: [
    {
      name: 'alone and unregistered',
      steps: [{ tool: 'read_file', stamps: ['agent_unregistered'] }, 'read_file'],
    },
    { name: 'two registered agents', steps: ['read_file', { tool: 'read_file', agent: 'second' }] },
  ],
};
