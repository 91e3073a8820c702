import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Recorder } from '@actlog/recorder';
import { expect } from 'vitest';
import { type AdapterCase, type CaseContext, echoes, receivedText, suiteTools } from '../adapter-case.ts';
import type { Service } from '../service.ts';

/** Cases about guarded agents. Policies of the service: `fail` is denied, `echo` needs approval. */
export const guardingCases: readonly AdapterCase[] = [
  {
    name: 'a denied call does not run: one 403 event, the model is told why, its siblings run',
    appliesTo: ({ guards }) => guards,
    async check({ harness, service, sessionId }) {
      const { all, ran } = suiteTools();
      const plain = { name: 'plain', run: async () => 'fine' };
      const turns = [
        [
          { toolName: 'fail', arguments: { text: 'x' } },
          { toolName: 'plain', arguments: { text: 'x' } },
        ],
      ];
      const adapter = { recorder: service.guarded() };
      const ending = await harness.run({ tools: [...all, plain], turns, sessionId, adapter });
      expect(ran).toEqual([]);
      expect(receivedText(ending)).toMatch(/The call of the tool "fail" was not run: .*Never fail\./);
      const events = (await service.events(sessionId)).map(({ toolName, status }) => `${toolName} ${status}`);
      expect(events.sort()).toEqual(['fail 403', 'plain 200']);
      if (!harness.abilities.goesOnAfterDenial) return;
      expect(ending.toolResults).toHaveLength(2);
      expect(ending.toolResults[1]).toEqual({ text: 'fine', isError: false });
      expect(ending.finalText).toBe('done');
      expect(ending.error).toBeUndefined();
    },
  },
  {
    name: 'held, then approved: it runs once',
    appliesTo: ({ holds }) => holds,
    async check(context) {
      const { ran, run } = startHeld(context);
      await context.service.decide(context.sessionId, 'approve');
      expect((await run).toolResults).toEqual([{ text: 'echo: x', isError: false }]);
      expect(ran).toEqual(['echo x']);
      const events = await context.service.events(context.sessionId);
      expect(events.filter(({ status }) => status === 200)).toHaveLength(1);
    },
  },
  {
    name: 'held, then denied: it never runs',
    appliesTo: ({ holds }) => holds,
    async check(context) {
      const { ran, run } = startHeld(context);
      await context.service.decide(context.sessionId, 'deny');
      expect(receivedText(await run)).toContain('The call of the tool "echo" was not run');
      expect(ran).toEqual([]);
      expect(await context.service.events(context.sessionId)).toMatchObject([{ status: 403 }]);
    },
  },
  {
    name: 'held, then aborted: it never runs, though it is approved later',
    appliesTo: ({ holds, aborts }) => holds && aborts,
    async check(context) {
      const controller = new AbortController();
      const { ran, run } = startHeld(context, controller.signal);
      const { id } = await context.service.held(context.sessionId);
      controller.abort();
      await context.service.client.guardian.pendingActions.decide(id, { decision: 'approve' });
      await run;
      expect(await context.service.events(context.sessionId)).toMatchObject([{ status: 499 }]);
      expect(ran).toEqual([]);
    },
  },
  {
    name: 'where a call cannot be held, one that needs approval is denied at once',
    appliesTo: ({ guards, holds }) => guards && !holds,
    async check(context) {
      const { ran, run } = startHeld(context);
      expect(receivedText(await run)).toContain('The call of the tool "echo" was not run');
      expect(ran).toEqual([]);
      expect(await context.service.events(context.sessionId)).toMatchObject([{ status: 403 }]);
    },
  },
  ...(['allow', 'deny'] as const).map((onUnavailable) => ({
    name: `with the service down, onUnavailable "${onUnavailable}" decides`,
    appliesTo: ({ guards }: { guards: boolean }) => guards,
    check: (context: CaseContext) => checkUnavailable(context, onUnavailable),
  })),
  {
    name: 'a guard of the adapter alone guards, on a recorder that has none',
    appliesTo: ({ guards }) => guards,
    async check({ harness, service, sessionId }) {
      const { all, ran } = suiteTools();
      const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;
      const turns = [[{ toolName: 'fail', arguments: { text: 'x' } }]];
      const adapter = { recorder: service.recorder(), guard };
      await harness.run({ tools: all, turns, sessionId, adapter });
      expect(ran).toEqual([]);
      expect(await service.events(sessionId)).toMatchObject([{ toolName: 'fail', status: 403 }]);
    },
  },
  {
    name: 'a denial of another adapter further in, which returns a result for the tool, is one 403 event',
    appliesTo: ({ guards, runsTools }) => guards && runsTools,
    async check({ harness, service, sessionId }) {
      const recorder = service.recorder();
      const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;
      const inner = recorder.forAdapter({ framework: 'another', sdk: '@example/another/1.0.0', guard });
      const { fail, ran } = suiteTools();
      const replacing = {
        name: 'fail',
        run: (args: { readonly text: string }) =>
          inner
            .toolCall({ toolName: 'fail', arguments: args, sessionId }, () => fail.run(args))
            .catch((error: Error) => error.message),
      };
      const turns = [[{ toolName: 'fail', arguments: { text: 'x' } }]];
      await harness.run({ tools: [replacing], turns, sessionId, adapter: { recorder } });
      expect(ran).toEqual([]);
      expect(await service.events(sessionId)).toMatchObject([{ toolName: 'fail', status: 403 }]);
    },
  },
];

/** Starts a run whose only call needs approval. */
function startHeld({ harness, service, sessionId }: CaseContext, signal?: AbortSignal) {
  const { all, ran } = suiteTools();
  const adapter = { recorder: service.guarded() };
  const abort = signal && { signal };
  const run = harness.run({ tools: all, turns: [echoes('x')], sessionId, adapter, ...abort });
  return { ran, run };
}

async function checkUnavailable(
  { harness, service, sessionId }: CaseContext,
  onUnavailable: 'allow' | 'deny',
): Promise<void> {
  const recorder = await unreachableRecorder(service, onUnavailable);
  const { all, ran } = suiteTools();
  const ending = await harness.run({ tools: all, turns: [echoes('x')], sessionId, adapter: { recorder } });
  expect(ran).toEqual(onUnavailable === 'allow' ? ['echo x'] : []);
  if (onUnavailable === 'allow') expect(ending.toolResults).toEqual([{ text: 'echo: x', isError: false }]);
  else expect(receivedText(ending)).toContain('the policy check failed');
}

/** Returns a guarded recorder whose service is down. */
export async function unreachableRecorder(
  service: Service,
  onUnavailable: 'allow' | 'deny',
): Promise<Recorder> {
  const client = service.client.withOptions({ baseURL: await deadAddress(), maxRetries: 0 });
  return service.doomedRecorder({
    client,
    spool: false,
    onError: () => {},
    onDrop: () => {},
    guard: { mode: 'enforce', onUnavailable },
  });
}

/** Returns an address on which nothing listens. */
export async function deadAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}
