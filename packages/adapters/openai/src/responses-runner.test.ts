import { Service } from '@actlog/adapter-suite';
import { zodResponsesFunction } from 'openai/helpers/zod';
import { VERSION } from 'openai/version';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { clientOf, type ModelCall, toolResultsOf } from '../tests/model.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const plain = {
  tool: {
    type: 'function' as const,
    name: 'plain',
    parameters: { type: 'object', properties: {} },
    strict: false,
  },
  execute: (args: Record<string, unknown>) => `plain ${args.n}`,
};

// The SDK has this runner since 7.43.
const { ResponsesToolRunner, runnerFunction } = await import('openai/helpers/responses-tool-runner');

describe.skipIf(Number(VERSION.split('.')[0]) < 7)('the tool runner for the Responses API', () => {
  const typed = runnerFunction(
    zodResponsesFunction({
      name: 'typed',
      parameters: z.object({ n: z.number() }),
      function: ({ n }) => `typed ${n}`,
    }),
  );

  async function resultsOf(
    calls: readonly ModelCall[],
    functions: (typeof plain | typeof typed)[],
    signal?: AbortSignal,
  ) {
    const { client, sent } = clientOf([{ calls }]);
    const runner = new ResponsesToolRunner({ functions });
    await runner.run(client, { model: 'scripted', input: 'go' }, signal && { signal });
    return toolResultsOf(sent).map(({ text }) => text);
  }

  test('records manually written and SDK-created functions once', async () => {
    const options = { recorder: service.recorder(), sessionId: 'runner' };
    const functions = actlog(actlog([plain, typed], options), options);
    const calls = [
      { name: 'plain', text: '{"n":1}' },
      { name: 'typed', text: '{"n":2}' },
    ];
    expect(await resultsOf(calls, functions)).toEqual(['plain 1', 'typed 2']);
    expect(await service.events('runner')).toMatchObject([
      { toolName: 'plain', status: 200 },
      { toolName: 'typed', status: 200 },
    ]);
  });

  test('stops the run for invalid arguments before any call, as without the adapter', async () => {
    const calls = [
      { name: 'plain', text: '{"n":1}' },
      { name: 'typed', text: '{"n":"no"}' },
    ];
    const ran: unknown[] = [];
    const noting = { ...plain, execute: (args: Record<string, unknown>) => String(ran.push(args)) };
    const options = { recorder: service.recorder(), sessionId: 'runner-misfit' };
    await expect(resultsOf(calls, [noting, typed])).rejects.toThrow();
    await expect(resultsOf(calls, actlog([noting, typed], options))).rejects.toThrow();
    expect(ran).toEqual([]);
    expect(await service.events('runner-misfit')).toMatchObject([{ toolName: 'typed', status: 400 }]);
  });

  test('returns denials as results, and does not hold calls without a signal', async () => {
    const { policies } = service.client;
    const rules = [await service.denyTool('plain'), await service.holdTool('typed')];
    const functions = actlog([plain, typed], { recorder: service.guarded(), sessionId: 'runner-denied' });
    const calls = [
      { name: 'plain', text: '{"n":1}' },
      { name: 'typed', text: '{"n":2}' },
    ];
    const results = await resultsOf(calls, functions);
    for (const { id } of rules) await policies.archive(id);
    expect(results[0]).toContain('The call of the tool "plain" was not run');
    expect(results[1]).toContain('The call of the tool "typed" was not run');
    expect(await service.events('runner-denied')).toMatchObject([{ status: 403 }, { status: 403 }]);
  });
});
