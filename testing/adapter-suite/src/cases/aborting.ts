import { setImmediate } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { type AdapterCase, type CaseContext, echoes } from '../adapter-case.ts';
import type { SuiteTool } from '../harness.ts';

/** Cases about calls that run when the caller's signal aborts. */
export const abortingCases: readonly AdapterCase[] = [
  {
    name: 'knows a call that the caller aborts while it runs, as far as the framework lets it',
    appliesTo: ({ aborts }) => aborts,
    check: (context) => checkAborted(context, context.harness.abilities.aborted),
  },
  {
    name: "knows a call that the caller's timeout ends, as far as the framework lets it",
    appliesTo: ({ aborts }) => aborts,
    check: (context) =>
      checkAborted(
        context,
        context.harness.abilities.timedOut,
        new DOMException('The run took too long.', 'TimeoutError'),
      ),
  },
];

/** Aborts a run while its tool runs. The tool then throws an error of its own, as those that are interrupted do. */
async function checkAborted(
  { harness, service, sessionId }: CaseContext,
  status: number,
  reason?: unknown,
): Promise<void> {
  const controller = new AbortController();
  const echo: SuiteTool = {
    name: 'echo',
    run: async (_, signal) => {
      controller.abort(reason);
      // Over a connection, the signal of the tool aborts later than that of the caller; in some frameworks never.
      for (let turn = 0; signal?.aborted === false && turn < 10_000; turn += 1) await setImmediate();
      throw new Error('The connection was closed.');
    },
  };
  await harness.run({
    tools: [echo],
    turns: [echoes('x')],
    sessionId,
    adapter: { recorder: service.recorder() },
    signal: controller.signal,
  });
  // Some frameworks end the run at once, while its tools still run.
  await vi.waitFor(async () => expect(await service.events(sessionId)).toHaveLength(1));
  expect(await service.events(sessionId)).toMatchObject([{ toolName: 'echo', status }]);
}
