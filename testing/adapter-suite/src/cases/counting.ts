import { expect } from 'vitest';
import { type AdapterCase, echoes, suiteTools } from '../adapter-case.ts';

/** Cases about recording each call as one event, however many hooks see it. */
export const countingCases: readonly AdapterCase[] = [
  {
    name: 'installed twice, it counts each call once',
    async check({ harness, service, sessionId }) {
      const recorder = service.recorder();
      const { all, ran } = suiteTools();
      await harness.run({
        tools: all,
        turns: [echoes('x'), echoes('x', 'y')],
        sessionId,
        adapter: { recorder },
        isInstalledTwice: true,
      });
      expect(ran).toEqual(['echo x', 'echo x', 'echo y']);
      expect(await service.events(sessionId)).toHaveLength(3);
    },
  },
  {
    name: 'an agent inside a tool of another: each call once',
    async check({ harness, service, sessionId }) {
      const recorder = service.recorder();
      const { echo } = suiteTools();
      const ask = {
        name: 'ask',
        run: async ({ text }: { readonly text: string }) => {
          const inner = { tools: [echo], turns: [echoes(text)], sessionId, adapter: { recorder } };
          return (await harness.run(inner)).toolResults[0]?.text ?? '';
        },
      };
      const turns = [[{ toolName: 'ask', arguments: { text: 'deep' } }]];
      const ending = await harness.run({ tools: [ask], turns, sessionId, adapter: { recorder } });
      expect(ending.toolResults).toEqual([{ text: 'echo: deep', isError: false }]);
      const names = (await service.events(sessionId)).map(({ toolName }) => toolName);
      expect(names.sort()).toEqual(['ask', 'echo']);
    },
  },
  {
    name: 'over a tool that another adapter records too, it counts each call once',
    appliesTo: ({ guards, runsTools }) => guards && runsTools,
    async check({ harness, service, sessionId }) {
      const recorder = service.recorder();
      const inner = recorder.forAdapter({ framework: 'another', sdk: '@example/another/1.0.0' });
      const { echo } = suiteTools();
      const twice = {
        name: 'echo',
        run: (args: { readonly text: string }) =>
          inner.toolCall({ toolName: 'echo', arguments: args, sessionId }, () => echo.run(args)),
      };
      await harness.run({ tools: [twice], turns: [echoes('x', 'y')], sessionId, adapter: { recorder } });
      expect(await service.events(sessionId)).toHaveLength(2);
    },
  },
  {
    name: 'two runs under way at once keep their calls apart',
    async check({ harness, service, sessionId }) {
      const recorder = service.recorder();
      const sessions = [`${sessionId}-1`, `${sessionId}-2`];
      const runs = sessions.map((id) =>
        harness.run({
          tools: suiteTools().all,
          turns: [echoes('same'), echoes('same')],
          sessionId: id,
          adapter: { recorder },
        }),
      );
      await Promise.all(runs);
      for (const id of sessions) expect(await service.events(id)).toHaveLength(2);
    },
  },
];
