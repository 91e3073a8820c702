import { expect } from 'vitest';
import { type AdapterCase, suiteTools } from '../adapter-case.ts';
import type { Service } from '../service.ts';

/** Returns the number of calls in each session of an agent, in ascending order. */
async function callsBySession(service: Service, agentId: string): Promise<number[]> {
  const sessions = await service.client.agents.sessions(agentId).toArray({ limit: 10 });
  return sessions.map(({ eventCount }) => eventCount ?? 0).sort((one, other) => one - other);
}

/** Cases about chats whose messages the application keeps, and passes to the framework again in each turn. */
export const chattingCases: readonly AdapterCase[] = [
  {
    name: 'a chat is one session when its messages are rebuilt for each turn',
    appliesTo: (_abilities, { chat }) => chat !== undefined,
    async check({ harness, service, sessionId: agentId }) {
      const recorder = service.recorder();
      const { echo, ran } = suiteTools();
      await harness.chat?.({ tool: echo, texts: ['one', 'two', 'three'], adapter: { recorder, agentId } });
      expect(ran).toEqual(['echo one', 'echo two', 'echo three']);
      await recorder.flush();
      expect(await callsBySession(service, agentId)).toEqual([3]);
    },
  },
  {
    name: 'two chats at once are two sessions',
    appliesTo: (_abilities, { chat }) => chat !== undefined,
    async check({ harness, service, sessionId: agentId }) {
      const recorder = service.recorder();
      const { echo } = suiteTools();
      const chats = ['first', 'second'].map((name) =>
        harness.chat?.({
          tool: echo,
          texts: ['one', 'two', 'three'].map((text) => `${name} ${text}`),
          adapter: { recorder, agentId },
        }),
      );
      await Promise.all(chats);
      await recorder.flush();
      expect(await callsBySession(service, agentId)).toEqual([3, 3]);
    },
  },
];
