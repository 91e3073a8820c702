import { randomUUID } from 'node:crypto';
import { NotFoundError } from '@actlog/client';
import type { EndpointName } from '@actlog/protocol';
import { expect } from 'vitest';
import {
  eventually,
  heldAction,
  holds,
  itemWith,
  newAgent,
  newEvent,
  newPolicy,
  page,
  recorded,
  type Trial,
} from './trial.ts';

/** `true` if a response contains a list or record of ten, such as the dimensions of a risk. */
function hasTen(response: object): boolean {
  return Object.values(response).some(
    (value) => typeof value === 'object' && value !== null && Object.keys(value).length === 10,
  );
}

/** Checks by endpoint name: each calls the endpoint and verifies its effect. */
export const calls: Readonly<Record<EndpointName, (trial: Trial) => Promise<void>>> = {
  async 'events.create'({ client }) {
    const event = newEvent();
    const acknowledged = await client.events.create(event);
    expect(acknowledged).toMatchObject({ eventId: event.eventId, warnings: expect.any(Array) });
    expect(Date.parse(acknowledged.receivedAt)).not.toBeNaN();
  },
  async 'sessions.list'(trial) {
    for (let count = 0; count < 3; count += 1) await recorded(trial);
    const { sessionId } = await recorded(trial);
    await eventually(() => itemWith(trial.client.sessions.list(page), sessionId));
  },
  async 'sessions.get'(trial) {
    const { sessionId, eventId } = await recorded(trial);
    expect(holds(await eventually(() => trial.client.sessions.get(sessionId)), eventId)).toBe(true);
  },
  async 'sessions.risk'(trial) {
    const { sessionId } = await recorded(trial);
    expect(hasTen(await eventually(() => trial.client.sessions.risk(sessionId)))).toBe(true);
  },
  async 'sessions.export'(trial) {
    const { sessionId, eventId } = await recorded(trial);
    expect(holds(await eventually(() => trial.client.sessions.export(sessionId)), eventId)).toBe(true);
  },
  async 'agents.create'(trial) {
    const { name, id } = await newAgent(trial);
    expect(holds(await trial.client.agents.get(id), name)).toBe(true);
  },
  async 'agents.list'(trial) {
    for (let count = 0; count < 3; count += 1) await newAgent(trial);
    const { name } = await newAgent(trial);
    expect(await itemWith(trial.client.agents.list(page), name)).toBeDefined();
  },
  async 'agents.get'(trial) {
    const { id, name } = await newAgent(trial);
    expect(holds(await trial.client.agents.get(id), name)).toBe(true);
  },
  async 'agents.update'(trial) {
    const { client, dialect } = trial;
    const { id } = await newAgent(trial);
    const name = `renamed ${id}`;
    expect(await client.agents.update(id, dialect.agentChange(name))).toMatchObject({ id });
    expect(holds(await client.agents.get(id), name)).toBe(true);
  },
  async 'agents.sessions'(trial) {
    const { id } = await newAgent(trial);
    for (let count = 0; count < 3; count += 1) await recorded(trial, id);
    const { sessionId } = await recorded(trial, id);
    const other = await recorded(trial);
    await eventually(() => itemWith(trial.client.agents.sessions(id, page), sessionId));
    expect(await itemWith(trial.client.agents.sessions(id, page), other.sessionId)).toBeUndefined();
  },
  async 'policies.create'(trial) {
    const { name, id } = await newPolicy(trial);
    expect(holds(await trial.client.policies.get(id), name)).toBe(true);
  },
  async 'policies.list'(trial) {
    for (let count = 0; count < 3; count += 1) await newPolicy(trial);
    const { name } = await newPolicy(trial);
    expect(await itemWith(trial.client.policies.list(page), name)).toBeDefined();
  },
  async 'policies.get'(trial) {
    const { id, name } = await newPolicy(trial);
    expect(holds(await trial.client.policies.get(id), name)).toBe(true);
  },
  async 'policies.update'(trial) {
    const { client, dialect } = trial;
    const { id } = await newPolicy(trial);
    const name = `renamed ${id}`;
    expect(await client.policies.update(id, dialect.policyChange(name))).toMatchObject({ id });
    expect(holds(await client.policies.get(id), name)).toBe(true);
  },
  async 'policies.archive'(trial) {
    const { client } = trial;
    const { id } = await newPolicy(trial);
    expect(await client.policies.archive(id)).toMatchObject({ id });
    // A service may or may not return an archived policy.
    const after = await client.policies.get(id).catch((error: unknown) => error);
    expect(after instanceof NotFoundError || holds(after, 'archived')).toBe(true);
  },
  async 'policies.check'({ client, dialect }) {
    const result = await client.policies.check(dialect.check(`agent-${randomUUID()}`));
    expect(Object.keys(result)).not.toEqual([]);
  },
  async 'guardian.pendingActions.list'(trial) {
    for (let count = 0; count < 3; count += 1) await heldAction(trial);
  },
  async 'guardian.pendingActions.decide'(trial) {
    const { client, dialect } = trial;
    const { agentId, id } = await heldAction(trial);
    expect(await client.guardian.pendingActions.decide(id, dialect.decision)).toMatchObject({ id });
    expect(await itemWith(client.guardian.pendingActions.list(page), agentId)).toBeUndefined();
  },
  async 'notificationChannels.create'({ client, dialect }) {
    const url = `https://${randomUUID()}.invalid/`;
    expect(holds(await client.notificationChannels.create(dialect.channel(url)), url)).toBe(true);
  },
  async 'notificationChannels.list'({ client, dialect }) {
    const urls = Array.from({ length: 3 }, () => `https://${randomUUID()}.invalid/`);
    for (const url of urls) await client.notificationChannels.create(dialect.channel(url));
    for (const url of urls) expect(await itemWith(client.notificationChannels.list(page), url)).toBeDefined();
  },
};
