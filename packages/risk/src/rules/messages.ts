import { matched, type Rule, stamped } from '../rule.ts';
import { firstOf, lastOf, stampTallyOf, tallyOf } from '../session/session-view.ts';

function older(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split('.').map((part) => Number.parseInt(part, 10) || 0));
  for (let at = 0; at < Math.max(a?.length ?? 0, b?.length ?? 0); at++) {
    const difference = (a?.[at] ?? 0) - (b?.[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/** Detects events that fall back to an older schema version. */
export const messageVersionDowngrade: Rule = {
  id: 'message.version-downgrade',
  title: 'Fallback to an older schema version',
  dimension: 'ASI07',
  llm: ['LLM03:2025 Supply Chain'],
  signal:
    'After events of one schemaVersion the session sends events of an older one: another program may be impersonating it, or hiding what the newer version would show.',
  weight: 0.3,
  falsePositives: 'Two programs with different versions that share a session.',
  recommendation: {
    title: 'Find the second program',
    text: 'Find out which program sends the older version, and rotate the key if it is not expected.',
  },
  detect(view) {
    if (view.state.versions.size < 2) return undefined;
    const versions = view.state.versions.entries().map(([, version]) => version);
    for (const newer of versions) {
      for (const version of versions) {
        if (!older(version.version, newer.version) || version.lastMs <= newer.firstMs) continue;
        const calls = tallyOf(view, tallyOf(view, 'call').count > 0 ? 'call' : 'message');
        return matched(
          [lastOf(calls)],
          1,
          `Events of schema version ${version.version} came after events of version ${newer.version}.`,
        );
      }
    }
    return undefined;
  },
  fires: [
    {
      name: '1.1, then 1.0',
      steps: [
        { tool: 'read_file', version: '1.1' },
        { tool: 'read_file', version: '1.0' },
      ],
    },
  ],
  quiet: [
    {
      name: '1.0, then 1.1',
      steps: [
        { tool: 'read_file', version: '1.0' },
        { tool: 'read_file', version: '1.1' },
      ],
    },
    {
      name: 'the service decides in its own version',
      steps: [
        { tool: 'pay', given: 'a', version: '1.1' },
        {
          tool: 'pay',
          given: 'b',
          category: 'guardian_decision',
          payload: { decision: 'require_approval' },
        },
        { tool: 'pay', given: 'b', version: '1.1' },
      ],
    },
    {
      name: '1.9, then 1.10',
      steps: [
        { tool: 'read_file', version: '1.9' },
        { tool: 'read_file', version: '1.10' },
      ],
    },
  ],
};

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

/** Detects an event with a timestamp in the future. */
export const messageClockAhead: Rule = {
  id: 'message.clock-ahead',
  title: 'Event from the future',
  dimension: 'ASI07',
  llm: ['LLM03:2025 Supply Chain'],
  signal:
    'The timestamp of an event is more than five minutes after its receipt: the clock is wrong or the order is forged.',
  weight: 0.15,
  falsePositives: 'Machines without time synchronization.',
  recommendation: {
    title: 'Set the clock',
    text: 'Synchronize the machine’s clock. Until then, do not trust the order of its events.',
  },
  detect: (view) =>
    stamped(view, 'clock_ahead', 1, 'The timestamp of an event was in the future when it arrived.'),
  fires: [{ name: 'stamped', steps: [{ tool: 'read_file', stamps: ['clock_ahead'] }] }],
  quiet: [{ name: 'on time', steps: ['read_file'] }],
};

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
