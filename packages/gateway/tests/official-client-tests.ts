import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { connect, type Ending, type Generation, type Route } from './connections.ts';
import { TestService } from './service.ts';
import { type TestClient, testClient } from './test-client.ts';

const guard = ['--guard', 'enforce', '--on-unavailable', 'deny'];

/** Adds the tests of the official clients, each through a gateway in front of the official server with everything. */
export function testOfficialClients(pairs: readonly (readonly [Route, Generation])[]): void {
  let service: TestService;
  const endings: Ending[] = [];
  const archive: (() => PromiseLike<unknown>)[] = [];
  beforeAll(async () => {
    service = await TestService.start();
  });
  afterEach(async () => {
    for (const policy of archive.splice(0)) await policy();
    for (const one of endings.splice(0).reverse()) await one.end();
  });
  afterAll(() => service.close());

  describe.each(pairs)('%s with the client of %s', (route: Route, generation: Generation) => {
    async function connected(agent: string, updated?: string[]): Promise<TestClient> {
      const client = testClient(generation, agent, updated);
      const transport = await connect(route, generation, service.environment(), guard, endings);
      await client.connect(transport as never);
      endings.push({ end: () => client.close() });
      return client;
    }

    test('passes tools, progress, requests of the server, resources and subscriptions', async () => {
      const agent = `all ${route} ${generation}`;
      const updated: string[] = [];
      const client = await connected(agent, updated);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('trigger-sampling-request');
      expect(await client.call('echo', { message: 'hello' })).toBe('Echo: hello');
      expect(await client.call('trigger-sampling-request', { prompt: 'p' })).toContain('sampled text');
      expect(await client.call('trigger-elicitation-request')).toContain('elicited name');
      expect(await client.call('get-roots-list')).toContain('file:///shared');
      const steps: number[] = [];
      const onprogress = ({ progress }: { progress: number }) => void steps.push(progress);
      await client.call('trigger-long-running-operation', { duration: 0.2, steps: 3 }, { onprogress });
      // The SDKs drop a notification that they read together with the response, as on a busy machine.
      expect(steps).toEqual([1, 2, 3].slice(0, steps.length));
      const { resources } = await client.listResources();
      const uri = resources[0]?.uri ?? '';
      expect((await client.readResource({ uri })).contents).toHaveLength(1);
      await client.subscribeResource({ uri });
      await client.call('toggle-subscriber-updates');
      await expect.poll(() => updated).toContain(uri);
      const calls = await service.calls(agent, 6);
      expect(calls.map(({ toolName, status }) => `${toolName} ${status}`)).toEqual([
        'echo 200',
        'trigger-sampling-request 200',
        'trigger-elicitation-request 200',
        'get-roots-list 200',
        'trigger-long-running-operation 200',
        'toggle-subscriber-updates 200',
      ]);
      expect(new Set(calls.map(({ sessionId }) => sessionId)).size).toBe(1);
    });

    test('denies, holds and cancels calls, and passes big ones', async () => {
      const agent = `guarded ${route} ${generation}`;
      archive.push(await service.policy('deny', ['get-env'], { message: 'Not here.' }));
      archive.push(await service.policy('require_approval', ['get-sum']));
      const client = await connected(agent);
      expect(await client.call('get-env')).toContain('was not run: it was denied by policy');
      const messages: string[] = [];
      const held = client.call(
        'get-sum',
        { a: 2, b: 3 },
        {
          onprogress: ({ message = '' }) => void messages.push(message),
          resetTimeoutOnProgress: true,
        },
      );
      await expect.poll(() => messages).toContain('Waiting for approval.');
      await service.approve(agent);
      expect(await held).toContain('5');
      const abort = new AbortController();
      const canceled = client.call(
        'trigger-long-running-operation',
        { duration: 60 },
        { signal: abort.signal },
      );
      canceled.catch(() => {});
      await client.ping();
      abort.abort();
      await expect(canceled).rejects.toThrow();
      // The official server takes 4 MiB over HTTP, and both SDKs 10 MiB over stdio.
      const big = 'ü'.repeat(route.endsWith('HTTP') ? 1_900_000 : 4_900_000);
      expect((await client.call('echo', { message: big })) === `Echo: ${big}`).toBe(true);
      const calls = await service.calls(agent, 4);
      expect(calls.map(({ toolName, status }) => `${toolName} ${status}`).sort()).toEqual([
        'echo 200',
        'get-env 403',
        'get-sum 200',
        'trigger-long-running-operation 499',
      ]);
    });
  });
}
