import { randomUUID } from 'node:crypto';
import { type Actlog, type EventInput, type List, NotFoundError } from '@actlog/client';
import type { Dialect } from './dialect.ts';

/** What a call is tried with. */
export interface Trial {
  readonly client: Actlog;
  readonly dialect: Dialect;
}

/** An event of a session that nothing else is in. */
export function newEvent(agentId = `agent-${randomUUID()}`) {
  return {
    eventId: randomUUID(),
    agentId,
    sessionId: `session-${randomUUID()}`,
    category: 'tool_api',
    payload: { toolName: 'send_mail', argumentsHash: 'sha256:00', responseStatus: 200 },
  } satisfies EventInput<'tool_api'>;
}

/** Whether a text stands anywhere in an answer, as a value of its own. */
export function holds(answer: unknown, text: string): boolean {
  return JSON.stringify(answer).includes(JSON.stringify(text));
}

/** The item of a list that holds a text. */
export async function itemWith<Item>(list: List<Item>, text: string): Promise<Item | undefined> {
  for await (const item of list) if (holds(item, text)) return item;
  return undefined;
}

/** Asks again while there is nothing: what was taken may be read a little later. */
export async function eventually<Value>(ask: () => PromiseLike<Value | undefined>): Promise<Value> {
  for (let tries = 0; tries < 20; tries += 1) {
    try {
      const value = await ask();
      if (value !== undefined) return value;
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
  }
  throw new Error('It was never there.');
}

/** So few items to a page that a list has several. */
export const page = { limit: 2 };

/** Records an event, and gives it. */
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

/** Makes a policy. */
export async function newPolicy({ client, dialect }: Trial): Promise<{ name: string; id: string }> {
  const name = `policy ${randomUUID()}`;
  return { name, id: dialect.idOf(await client.policies.create(dialect.policy(name))) };
}

/** Has an action held, and gives the agent that asked for it and the action's identifier. */
export async function heldAction({ client, dialect }: Trial): Promise<{ agentId: string; id: string }> {
  const agentId = `agent-${randomUUID()}`;
  await client.policies.create(dialect.hold(`hold ${agentId}`, agentId));
  await client.policies.check(dialect.check(agentId));
  const item = await eventually(() => itemWith(client.guardian.pendingActions.list(page), agentId));
  return { agentId, id: dialect.idOf(item) };
}
