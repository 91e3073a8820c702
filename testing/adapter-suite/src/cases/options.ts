import { sharedRecorder } from '@actlog/recorder';
import { expect, vi } from 'vitest';
import { type AdapterCase, type CaseContext, echoes, suiteTools } from '../adapter-case.ts';
import { withEnvironment } from '../process-environment.ts';

/** Cases about the shared options, which must mean the same in every adapter. */
export const optionCases: readonly AdapterCase[] = [
  {
    name: 'names, statuses, sessions and agents can be mapped, and tools left out',
    async check({ harness, service, sessionId }) {
      await harness.run({
        tools: suiteTools().all,
        turns: [echoes('x'), [{ toolName: 'fail', arguments: { text: 'x' } }]],
        sessionId: `${sessionId}-of-the-framework`,
        adapter: {
          recorder: service.recorder(),
          agentId: 'mapped-agent',
          sessionId: () => sessionId,
          toolName: (name) => `shop.${name}`,
          responseStatus: () => 299,
          exclude: [/^fail$/],
        },
      });
      expect(await service.events(sessionId)).toEqual([
        { sessionId, agentId: 'mapped-agent', toolName: 'shop.echo', status: 299 },
      ]);
    },
  },
  {
    name: 'only what is included is recorded',
    async check({ harness, service, sessionId }) {
      const recorder = service.recorder();
      await harness.run({
        tools: suiteTools().all,
        turns: [echoes('x'), [{ toolName: 'fail', arguments: { text: 'x' } }]],
        sessionId,
        adapter: { recorder, include: ['fail'] },
      });
      expect(await service.events(sessionId)).toMatchObject([{ toolName: 'fail' }]);
    },
  },
  {
    name: 'without a recorder, the environment says where events go',
    check: (context) => withEnvironment(context.service, () => checkEnvironment(context)),
  },
  {
    name: 'without anything configured the agent runs, and one warning says so',
    check: (context) => withEnvironment(undefined, () => checkUnconfigured(context)),
  },
];

async function checkEnvironment({ harness, service, sessionId }: CaseContext): Promise<void> {
  const adapter = { sessionId };
  await harness.run({ tools: suiteTools().all, turns: [echoes('x')], sessionId, adapter });
  await sharedRecorder().flush();
  // The agent is the framework's own, if the framework names it.
  expect(await service.events(sessionId)).toMatchObject([{ sessionId, toolName: 'echo', status: 200 }]);
}

async function checkUnconfigured({ harness, sessionId }: CaseContext): Promise<void> {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  try {
    for (let run = 0; run < 2; run += 1) {
      const scenario = { tools: suiteTools().all, turns: [echoes('x')], sessionId, adapter: {} };
      expect((await harness.run(scenario)).toolResults).toEqual([{ text: 'echo: x', isError: false }]);
    }
    const own = warn.mock.calls.filter(([text]) => String(text).startsWith('[actlog]'));
    expect(own).toHaveLength(1);
  } finally {
    warn.mockRestore();
  }
}
