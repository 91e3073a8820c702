import { newSessionId, processWide } from '@actlog/recorder/adapter';
import type { LocalAgent } from '@strands-agents/sdk';

/** The conversation that an agent is in. */
interface AgentChat {
  readonly sessionId: string;
  /** Messages that the agent has had in this conversation. */
  readonly messages: WeakSet<object>;
}

/**
 * Conversations of agents. An application may use one agent for several, and clears or replaces its messages in between:
 * the calls of two people must not get into one session.
 */
const chats = processWide('@actlog/strands/agent-chats', () => new WeakMap<LocalAgent, AgentChat>());

/**
 * Decides whether the run that begins continues the agent's conversation.
 *
 * @param ownId - session of the agent's first conversation
 * @param name - name of the agent, for sessions of later conversations
 */
export function beginChat(agent: LocalAgent, ownId: string, name: string | undefined): void {
  const known = chats().get(agent);
  const isContinued = !known || agent.messages.some((message) => known.messages.has(message));
  const next = known ? newSessionId(name) : ownId;
  const chat = (isContinued && known) || { sessionId: next, messages: new WeakSet() };
  chats().set(agent, chat);
  noteChatMessages(agent);
}

/** Notes the messages that the agent has now as part of its conversation. */
export function noteChatMessages(agent: LocalAgent): void {
  const chat = chats().get(agent);
  if (!chat) return;
  // Messages are added at the end.
  for (const message of agent.messages.toReversed()) {
    if (chat.messages.has(message)) return;
    chat.messages.add(message);
  }
}

/** Returns the session of the conversation that an agent is in; undefined if no covered run has begun. */
export function chatSession(agent: LocalAgent): string | undefined {
  return chats().get(agent)?.sessionId;
}
