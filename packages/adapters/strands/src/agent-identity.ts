import { randomUUID } from 'node:crypto';
import { type AdapterCalls, currentSessionId, processWidePerOwner } from '@actlog/recorder/adapter';
import type { LocalAgent } from '@strands-agents/sdk';
import { beginChat, chatSession } from './agent-chats.ts';
import { orchestratorSession } from './orchestrator-runs.ts';

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
 * Returns the session of an agent's calls. In order of precedence: that of its session manager; that of the surrounding
 * tool call or `session.run`; that of the swarm or graph that runs it; that of an earlier call among its messages,
 * which an application may keep for another agent; for the first conversation of the agent, the id that Strands gives
 * it, which differs in every process; a new one.
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
