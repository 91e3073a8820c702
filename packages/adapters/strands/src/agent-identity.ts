import { randomUUID } from 'node:crypto';
import { conversationSession, processWidePerOwner } from '@actlog/recorder/adapter';
import type { LocalAgent } from '@strands-agents/sdk';

/** What an agent is called when its user did not name it. */
const defaultId = 'agent';
const defaultName = 'Strands Agent';

/** Sessions of agents that have none. */
const madeUpFor = processWidePerOwner('@actlog/strands/sessions', randomUUID);

/** What an agent holds of its session; the oldest Strands tells it nowhere else than in `_sessionId`. */
interface WithSession {
  readonly sessionManager?: { readonly sessionId?: unknown; readonly _sessionId?: unknown } | undefined;
  readonly sessionId?: unknown;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * The session of an agent's calls: that of its session manager; else that of the tool call or of the `session.run` that
 * the agent works in; else the id that Strands gives the agent, which is another one in every process.
 */
export function sessionOf(agent: LocalAgent): string {
  const { sessionManager } = agent as WithSession;
  return (
    text(sessionManager?.sessionId) ??
    text(sessionManager?._sessionId) ??
    conversationSession(undefined) ??
    text((agent as WithSession).sessionId) ??
    madeUpFor(agent)
  );
}

/** The id or the name that the agent's user gave it. */
export function agentIdOf({ id, name }: LocalAgent & { readonly name?: string }): string | undefined {
  return (id === defaultId ? undefined : text(id)) ?? (name === defaultName ? undefined : text(name));
}
