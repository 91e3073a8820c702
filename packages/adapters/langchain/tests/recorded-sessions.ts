import type { Service } from '@actlog/adapter-suite';

/** Returns the sessions of an agent as lists of their calls, such as `worker echo 200`. */
export async function recordedSessions(service: Service, agentId: string): Promise<string[][]> {
  await service.events('none'); // everything is delivered
  const sessions = await service.client.agents.sessions(agentId).toArray({ limit: 10 });
  const lines = await Promise.all(sessions.map(({ id }) => service.callLines(String(id))));
  return lines.map((list) => list.toSorted()).sort();
}
