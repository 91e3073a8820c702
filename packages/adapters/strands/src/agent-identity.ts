import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import {
  type AdapterCalls,
  currentSessionId,
  newSessionId,
  processWide,
  processWidePerOwner,
} from '@actlog/recorder/adapter';
import type { LocalAgent } from '@strands-agents/sdk';

/** Sessions of running swarms and graphs. */
const sessions = processWide('@actlog/strands/orchestrator-sessions', () => new AsyncLocalStorage<string>());

/** Sessions of the last runs of swarms and graphs, which may be resumed. */
const lastSessions = processWide('@actlog/strands/last-sessions', () => new WeakMap<object, string>());

/** The used part of a swarm or graph. */
interface Orchestrator {
  readonly id?: unknown;
  readonly sessionManager?: { readonly sessionId?: unknown; readonly _sessionId?: unknown } | undefined;
}

/** Returns the session of the innermost running swarm or graph. */
function orchestratorSession(): string | undefined {
  return sessions().getStore();
}

/**
 * Returns the session of a run that is about to begin: from its session manager, the run that it resumes, or the swarm
 * or graph around it; otherwise a new one.
 *
 * @param input - input of the run
 */
export function sessionOfRun(orchestrator: Orchestrator, input: unknown): string {
  const { id, sessionManager } = orchestrator;
  const managed = [sessionManager?.sessionId, sessionManager?._sessionId].find(
    (value) => typeof value === 'string' && value !== '',
  ) as string | undefined;
  const resumed = isResponse(input) ? lastSessions().get(orchestrator) : undefined;
  const name = typeof id === 'string' ? id : undefined;
  const sessionId = managed ?? resumed ?? orchestratorSession() ?? newSessionId(name);
  lastSessions().set(orchestrator, sessionId);
  return sessionId;
}

/** Returns `true` for responses to interrupts, with which a run is resumed. */
function isResponse(input: unknown): boolean {
  return (
    Array.isArray(input) &&
    input.some((part) => typeof part === 'object' && part !== null && 'interruptResponse' in part)
  );
}

/** Runs a step of a swarm or graph. */
export function inSession<Result>(sessionId: string, step: () => Result): Result {
  return sessions().run(sessionId, step);
}

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
function beginChat(agent: LocalAgent, ownId: string, name: string | undefined): void {
  const known = chats().get(agent);
  const isContinued = !known || agent.messages.some((message) => known.messages.has(message));
  const next = known ? newSessionId(name) : ownId;
  const chat = (isContinued && known) || { sessionId: next, messages: new WeakSet() };
  chats().set(agent, chat);
  rememberChatMessages(agent);
}

/** Remembers the messages that the agent has now as part of its conversation. */
export function rememberChatMessages(agent: LocalAgent): void {
  const chat = chats().get(agent);
  if (!chat) return;
  // Messages are added at the end.
  for (const message of agent.messages.toReversed()) {
    if (chat.messages.has(message)) return;
    chat.messages.add(message);
  }
}

/** Returns the session of the conversation that an agent is in; undefined if no covered run has begun. */
function chatSession(agent: LocalAgent): string | undefined {
  return chats().get(agent)?.sessionId;
}

/** Defaults of agents that the user has not named. */
const defaultId = 'agent';
const defaultName = 'Strands Agent';

/** Generated sessions of agents that have none. */
const generatedSession = processWidePerOwner('@actlog/strands/sessions', randomUUID);

/** Session properties of an agent; the oldest Strands versions only have `_sessionId`. */
interface WithSession {
  readonly sessionManager?: { readonly sessionId?: unknown; readonly _sessionId?: unknown } | undefined;
  readonly sessionId?: unknown;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * Returns the session of an agent's calls, from the first source that has one:
 *
 * 1. its session manager
 * 2. the surrounding tool call or `session.run`
 * 3. the swarm or graph that runs it
 * 4. an earlier call among its messages, which an application may keep for another agent
 * 5. for the first conversation of the agent, the id that Strands gives it, which differs in every process
 * 6. a new id
 */
export function sessionOf(agent: LocalAgent, { conversations }: AdapterCalls): string {
  const { sessionManager } = agent as WithSession;
  const ownId = () => chatSession(agent) ?? ownSession(agent);
  return (
    text(sessionManager?.sessionId) ??
    text(sessionManager?._sessionId) ??
    currentSessionId() ??
    orchestratorSession() ??
    conversations.sessionOf(agent.messages, ownId) ??
    ownId()
  );
}

function ownSession(agent: LocalAgent): string {
  return text((agent as WithSession).sessionId) ?? generatedSession(agent);
}

/** Decides which conversation the run of an agent that is about to begin belongs to. */
export function beginConversation(agent: LocalAgent): void {
  beginChat(agent, ownSession(agent), agentIdOf(agent));
}

/** Returns the id or name that the user gave the agent. */
export function agentIdOf({ id, name }: LocalAgent & { readonly name?: string }): string | undefined {
  return (id === defaultId ? undefined : text(id)) ?? (name === defaultName ? undefined : text(name));
}
