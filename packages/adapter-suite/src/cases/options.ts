import { expect, vi } from 'vitest';
import { type AdapterCase, type CaseContext, echoes, suiteTools } from '../adapter-case.ts';

/** That the shared options mean the same everywhere. */
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
    check: (context) => withSharedRecorder(context, checkEnvironment),
  },
  {
    name: 'without anything configured the agent runs, and one warning says so',
    check: (context) => withSharedRecorder(context, checkUnconfigured),
  },
];

async function checkEnvironment({ harness, service, sessionId }: CaseContext): Promise<void> {
  vi.stubEnv('ACTLOG_BASE_URL', service.url);
  vi.stubEnv('ACTLOG_API_KEY', service.apiKey);
  vi.stubEnv('ACTLOG_AGENT_ID', 'from-the-environment');
  vi.stubEnv('ACTLOG_SPOOL_DIR', service.newFolder());
  const adapter = { sessionId };
  await harness.run({ tools: suiteTools().all, turns: [echoes('x')], sessionId, adapter });
  const { sharedRecorder } = await import('@actlog/recorder');
  await sharedRecorder().close();
  expect(await service.events(sessionId)).toMatchObject([{ sessionId, toolName: 'echo', status: 200 }]);
}

async function checkUnconfigured({ harness, sessionId }: CaseContext): Promise<void> {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  for (const name of ['ACTLOG_BASE_URL', 'ACTLOG_API_KEY']) vi.stubEnv(name, undefined);
  try {
    for (let run = 0; run < 2; run += 1) {
      const scenario = { tools: suiteTools().all, turns: [echoes('x')], sessionId, adapter: {} };
      expect((await harness.run(scenario)).answers).toEqual([{ text: 'echo: x', isError: false }]);
    }
    const own = warn.mock.calls.filter(([text]) => String(text).startsWith('[actlog]'));
    expect(own).toHaveLength(1);
  } finally {
    warn.mockRestore();
  }
}

/** Runs a check in which the recorder of the process is made anew. */
async function withSharedRecorder(
  context: CaseContext,
  check: (context: CaseContext) => Promise<void>,
): Promise<void> {
  const registry = globalThis as Record<symbol, unknown>;
  const shared = Symbol.for('@actlog/recorder/shared');
  delete registry[shared];
  try {
    await check(context);
  } finally {
    vi.unstubAllEnvs();
    delete registry[shared];
  }
}
