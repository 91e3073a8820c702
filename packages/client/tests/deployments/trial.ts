import { randomUUID } from 'node:crypto';
import { type Actlog, type EventInput, type List, NotFoundError } from '@actlog/client';
import type { Dialect } from './dialect.ts';

/** Client and dialect that a check uses. */
export interface Trial {
  readonly client: Actlog;
  readonly dialect: Dialect;
}

/** Creates an event in a session of its own. */
export function newEvent(agentId = `agent-${randomUUID()}`) {
  return {
    eventId: randomUUID(),
    agentId,
    sessionId: `session-${randomUUID()}`,
    category: 'tool_api',
    payload: { toolName: 'send_mail', argumentsHash: 'sha256:00', responseStatus: 200 },
  } satisfies EventInput<'tool_api'>;
}

/** `true` if a response contains the text as a complete value. */
export function holds(response: unknown, text: string): boolean {
  return JSON.stringify(response).includes(JSON.stringify(text));
}

/** Returns the first item of a list that contains the text. */
export async function itemWith<Item>(list: List<Item>, text: string): Promise<Item | undefined> {
  for await (const item of list) if (holds(item, text)) return item;
  return undefined;
}

/** Retries until there is a value, because a recorded item may become readable a little later. */
export async function eventually<Value>(request: () => PromiseLike<Value | undefined>): Promise<Value> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    try {
      const value = await request();
      if (value !== undefined) return value;
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
  }
  throw new Error('The expected value never appeared.');
}

/** A page size that splits every list into several pages. */
export const page = { limit: 2 };

/** Records an event and returns it. */
export async function recorded({ client }: Trial, agentId?: string) {
  const event = newEvent(agentId);
  await client.events.create(event);
  return event;
}

/** Registers an agent. */
export async function newAgent({ client, dialect }: Trial): Promise<{ name: string; id: string }> {
  const name = `agent ${randomUUID()}`;
  return { name, id: dialect.idOf(await client.agents.create(dialect.agent(name))) };
}

/** Creates a policy. */
export async function newPolicy({ client, dialect }: Trial): Promise<{ name: string; id: string }> {
  const name = `policy ${randomUUID()}`;
  return { name, id: dialect.idOf(await client.policies.create(dialect.policy(name))) };
}

/** Holds an action, and returns its agent and its identifier. */
export async function heldAction({ client, dialect }: Trial): Promise<{ agentId: string; id: string }> {
  const agentId = `agent-${randomUUID()}`;
  await client.policies.create(dialect.hold(`hold ${agentId}`, agentId));
  await client.policies.check(dialect.check(agentId));
  const item = await eventually(() => itemWith(client.guardian.pendingActions.list(page), agentId));
  return { agentId, id: dialect.idOf(item) };
}
