import { Service } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/recorder';
import { AdapterCalls } from '@actlog/recorder/adapter';
import { BetaAbstractComputerToolset20260801 } from '@anthropic-ai/sdk/helpers/beta/toolsets';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import type { BetaToolRunnerParams } from '@anthropic-ai/sdk/lib/tools/BetaToolRunner';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import type { BetaToolUseBlock } from '@anthropic-ai/sdk/resources/beta';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { type Block, clientOf, toolResultsOf, toolUse } from '../tests/model.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const settings = {
  name: 'repeat',
  description: 'Says it again.',
  inputSchema: z.object({ text: z.string(), times: z.number().default(2) }),
  run: ({ text, times }: { text: string; times: number }) => text.repeat(times),
};
const repeat = betaZodTool(settings);

/** Runs the SDK's loop over one turn of calls. */
async function resultsOf(calls: readonly Block[], tools: BetaToolRunnerParams['tools']) {
  const { client, sent } = clientOf([calls]);
  const messages = [{ role: 'user' as const, content: 'go' }];
  await client.beta.messages.toolRunner({ model: 'scripted', max_tokens: 1, messages, tools }).runUntilDone();
  return toolResultsOf(sent);
}

test('records invalid arguments once in their session, whenever they are parsed', async () => {
  const recorder = service.recorder({ agentId: 'parses' });
  const middleware = [actlog.middleware({ recorder })];
  for (const runToolsEagerly of [false, true]) {
    const conversationId = `parses-${runToolsEagerly}`;
    const call = { ...toolUse('repeat', { text: 5 }), id: `toolu_${conversationId}` };
    const { client } = clientOf([[call]], { middleware });
    const messages = [{ role: 'user' as const, content: 'go' }];
    const params = { model: 'scripted', max_tokens: 1, messages, tools: actlog([repeat], { recorder }) };
    const options = { openTelemetry: { conversationId } };
    await client.beta.messages
      .toolRunner({ ...params, stream: true, runToolsEagerly }, options)
      .runUntilDone();
    expect(await service.events(conversationId)).toMatchObject([{ toolName: 'repeat', status: 400 }]);
  }
  const sessions = await service.client.agents.sessions('parses').toArray({ limit: 10 });
  expect(sessions).toHaveLength(2);
});

test('records invalid arguments with this adapter if the call has a span', async () => {
  const options = { recorder: service.recorder(), sessionId: 'refused-span' };
  const spans = new AdapterCalls({ framework: 'opentelemetry', sdk: 'spans' }, options);
  const call = { ...toolUse('repeat', { text: 5 }), id: 'toolu_refused-span' };
  const { client } = clientOf([[call]], { middleware: [actlog.middleware(options)] });
  const messages = [{ role: 'user' as const, content: 'go' }];
  const params = { model: 'scripted', max_tokens: 1, messages, tools: actlog([repeat], options) };
  await client.beta.messages.toolRunner(params).runUntilDone();
  // Same as the adapter for OpenTelemetry at the end of the call's span.
  const reported = { toolName: 'repeat', callId: call.id, arguments: { text: 5 } };
  spans.recordUnhooked(reported, { ok: false, error: new Error('It does not fit.') });
  expect(await service.events('refused-span')).toMatchObject([{ toolName: 'repeat', status: 400 }]);
});

test('leaves invalid arguments to an earlier span with runToolsEagerly', async () => {
  const options = { recorder: service.recorder(), sessionId: 'eager-span' };
  const spans = new AdapterCalls({ framework: 'opentelemetry', sdk: 'spans' }, options);
  const call = { ...toolUse('repeat', { text: 5 }), id: 'toolu_eager-span' };
  const { client } = clientOf([[call]], { middleware: [actlog.middleware(options)] });
  const parse = (input: unknown) => {
    const reported = { toolName: 'repeat', callId: call.id, arguments: input };
    spans.recordUnhooked(reported, { ok: false, error: new Error('It does not fit.') });
    return repeat.parse(input);
  };
  const messages = [{ role: 'user' as const, content: 'go' }];
  const tools = actlog([{ ...repeat, parse }], options);
  const params = { model: 'scripted', max_tokens: 1, messages, tools };
  await client.beta.messages.toolRunner({ ...params, stream: true, runToolsEagerly: true }).runUntilDone();
  expect(await service.events('eager-span')).toMatchObject([{ toolName: 'repeat', status: 500 }]);
});

test("hashes the model's arguments before schema defaults", async () => {
  const tools = actlog([repeat], { recorder: service.recorder(), sessionId: 'raw' });
  expect(await resultsOf([toolUse('repeat', { text: 'a' })], tools)).toEqual([
    { text: 'aa', isError: false },
  ]);
  const [event] = await service.storedEvents('raw');
  expect(event?.payload?.argumentsHash).toBe(await hashArguments({ text: 'a' }));
});

test("returns Anthropic's tools and excluded tools unchanged", () => {
  const search = { type: 'web_search_20250305', name: 'web_search' } as const;
  const other = betaZodTool({ ...settings, name: 'other' });
  const options = { recorder: service.recorder(), exclude: ['other'] };
  const [first, second, third] = actlog([repeat, search, other], options);
  expect(first).not.toBe(repeat);
  expect(second).toBe(search);
  expect(third).toBe(other);
});

test('keeps the fields, methods and symbols of a class instance', async () => {
  const mark = Symbol('mark');
  class Shout {
    readonly type = 'custom';
    readonly name = 'shout';
    readonly input_schema = { type: 'object' as const };
    readonly [mark] = true;
    readonly #end = '!';
    parse(input: unknown) {
      return { ...(input as { text: string }), end: this.#end };
    }
    run({ text, end }: { text: string; end: string }) {
      return text + end + this.#end;
    }
  }
  const [shout] = actlog([new Shout() as BetaRunnableTool], {
    recorder: service.recorder(),
    sessionId: 'class',
  });
  expect(mark in shout).toBe(true);
  expect(JSON.parse(JSON.stringify(shout))).toEqual(JSON.parse(JSON.stringify(new Shout())));
  expect(await resultsOf([toolUse('shout', { text: 'a' })], [shout])).toEqual([
    { text: 'a!!', isError: false },
  ]);
  expect(await service.events('class')).toMatchObject([{ toolName: 'shout', status: 200 }]);
});

test('records a manual call once if the tool is wrapped twice', async () => {
  const options = { recorder: service.recorder(), sessionId: 'by-hand' };
  const [tool] = actlog(actlog([repeat], options), options);
  expect(await tool.run(tool.parse({ text: 'a' }))).toBe('aa');
  expect(() => tool.parse({ text: 5 })).toThrow();
  expect(await service.events('by-hand')).toMatchObject([{ status: 200 }, { status: 400 }]);
});

test('records invalid arguments once when installed twice', async () => {
  const options = { recorder: service.recorder(), sessionId: 'invalid-twice' };
  await resultsOf([toolUse('repeat', { text: 5 })], actlog(actlog([repeat], options), options));
  expect(await service.events('invalid-twice')).toMatchObject([{ toolName: 'repeat', status: 400 }]);
});

test("passes only the denial's message to the model, and the denial to outer hooks", async () => {
  const { policies } = service.client;
  const { id } = await policies.create({
    name: 'no',
    effect: 'deny',
    match: { tools: ['repeat'] },
    message: 'No.',
  });
  const inner = actlog([repeat], { recorder: service.guarded(), sessionId: 'denied' });
  const guardless = { recorder: service.recorder(), sessionId: 'denied-outside' };
  const results = await resultsOf([toolUse('repeat', { text: 'a' })], actlog(inner, guardless));
  await policies.archive(id);
  expect(results).toEqual([
    {
      text: expect.stringMatching(/^The call of the tool "repeat" was not run: .*tell the user\.$/),
      isError: true,
    },
  ]);
  expect(await service.events('denied')).toMatchObject([{ status: 403 }]);
  expect(await service.events('denied-outside')).toMatchObject([{ status: 403 }]);
});

test("passes on a tool's own error content unchanged", async () => {
  const content = [{ type: 'text' as const, text: 'full' }];
  const tools = actlog(
    [
      {
        ...repeat,
        run: () => {
          throw new ToolError(content);
        },
      },
    ],
    { recorder: service.recorder(), sessionId: 'tool-error' },
  );
  const results = await resultsOf([toolUse('repeat', { text: 'a' })], tools);
  expect(results).toEqual([{ text: JSON.stringify(content), isError: true }]);
  expect(await service.events('tool-error')).toMatchObject([{ status: 500 }]);
});

test('records calls of a toolset under the names of its members', async () => {
  const browser = {
    type: 'browser_toolset_20260801' as const,
    run: async (_context: unknown, { name }: { name: string }) => [
      { type: 'text' as const, text: `${name} done` },
    ],
  };
  const recorder = service.recorder();
  const tools = actlog([browser as never], { recorder, sessionId: 'toolset', exclude: ['scroll'] });
  const calls = ['navigate', 'scroll'].map((name) => ({
    ...toolUse(name, { by: 1 }),
    toolset_name: 'browser',
  }));
  expect((await resultsOf(calls, tools)).map(({ text }) => JSON.parse(text)[0].text)).toEqual([
    'navigate done',
    'scroll done',
  ]);
  expect(await service.events('toolset')).toMatchObject([{ toolName: 'navigate', status: 200 }]);
});

test('applies the same rules to a toolset in a manual loop', async () => {
  class Desktop extends BetaAbstractComputerToolset20260801 {
    protected override wait(): void {}
    protected override left_click(): void {
      throw new Error('no such place');
    }
  }
  const { policies } = service.client;
  const { id } = await service.denyTool('key');
  const own = new Desktop({ confirm: () => true });
  const [desktop] = actlog([own], { recorder: service.guarded(), sessionId: 'tool-result' });
  const call = (name: string, input: object) =>
    ({ ...toolUse(name, input), toolset_name: 'computer' }) as unknown as BetaToolUseBlock;
  const results = [];
  for (const use of [call('wait', { duration: 0 }), call('left_click', {}), call('key', { text: 'a' })]) {
    results.push(await desktop.toolResult(use));
  }
  await policies.archive(id);
  expect(results).toMatchObject([
    { toolset_name: 'computer' },
    { is_error: true },
    { is_error: true, content: expect.stringMatching(/^The call of the tool "key" was not run/) },
  ]);
  expect(await service.events('tool-result')).toMatchObject([
    { toolName: 'wait', status: 200 },
    { toolName: 'left_click', status: 500 },
    { toolName: 'key', status: 403 },
  ]);
});

test('records a tool added while the loop runs', async () => {
  const [tool] = actlog([repeat], { recorder: service.recorder(), sessionId: 'added' });
  const { client, sent } = clientOf([[toolUse('repeat', { text: 'a' })]]);
  const messages = [{ role: 'user' as const, content: 'go' }];
  const runner = client.beta.messages.toolRunner({ model: 'scripted', max_tokens: 1, messages, tools: [] });
  runner.addTools(tool);
  await runner.runUntilDone();
  expect(toolResultsOf(sent)).toEqual([{ text: 'aa', isError: false }]);
  expect(await service.events('added')).toMatchObject([{ toolName: 'repeat', status: 200 }]);
});
