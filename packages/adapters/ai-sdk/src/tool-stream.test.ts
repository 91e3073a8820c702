import { runInNewContext } from 'node:vm';
import { Service } from '@actlog/adapter-suite';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { callOf, modelOf, toolResultsOf } from '../tests/model.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const inputSchema = z.object({ to: z.number() });

/** Counts, and throws at 13. */
const count = tool({
  inputSchema,
  async *execute({ to }) {
    for (let at = 1; at <= to; at += 1) {
      if (at === 13) throw Object.assign(new Error('bad luck'), { status: 502 });
      yield at;
    }
  },
});

async function streamed(tools: { count: typeof count }, to: number) {
  const model = modelOf([[callOf('count', { to })]]);
  const { fullStream } = streamText({ model, prompt: 'go', tools, stopWhen: stepCountIs(2) });
  const seen: unknown[] = [];
  for await (const part of fullStream) {
    if (part.type === 'tool-result') seen.push([part.output, part.preliminary ?? false]);
    if (part.type === 'tool-error') seen.push(String(part.error));
  }
  return { seen, toolResults: toolResultsOf(model) };
}

test('passes on several results as without the adapter, as one call', async () => {
  const tools = actlog({ count }, { recorder: service.recorder(), sessionId: 'stream' });
  for (const to of [3, 20]) expect(await streamed(tools, to)).toEqual(await streamed({ count }, to));
  expect((await streamed(tools, 3)).seen).toEqual([
    [1, true],
    [2, true],
    [3, true],
    [3, false],
  ]);
  expect(await service.events('stream')).toMatchObject([{ status: 200 }, { status: 502 }, { status: 200 }]);
});

test('passes on several results as one call when installed twice', async () => {
  const options = { recorder: service.recorder(), sessionId: 'stream-twice' };
  const tools = actlog(actlog({ count }, options), options);
  for (const to of [3, 20]) expect(await streamed(tools, to)).toEqual(await streamed({ count }, to));
  expect(await service.events('stream-twice')).toMatchObject([{ status: 200 }, { status: 502 }]);
});

test('passes on several results of a function from another realm', async () => {
  const execute = runInNewContext(
    '(async function* ({ to }) { for (let at = 1; at <= to; at += 1) yield at; })',
  );
  const foreign = { count: tool({ inputSchema, execute }) as typeof count };
  const tools = actlog(foreign, { recorder: service.recorder(), sessionId: 'stream-realm' });
  expect(await streamed(tools, 3)).toEqual(await streamed(foreign, 3));
  expect(await service.events('stream-realm')).toMatchObject([{ status: 200 }]);
});

test('records a stream that throws when it is closed', async () => {
  const leaky = tool({
    inputSchema,
    async *execute({ to }) {
      try {
        while (true) yield to;
      } finally {
        // biome-ignore lint/correctness/noUnsafeFinally: what a tool may do
        throw new Error('not cleaned up');
      }
    },
  });
  const tools = actlog({ leaky }, { recorder: service.recorder(), sessionId: 'leaky' });
  const results = tools.leaky.execute?.({ to: 1 }, { toolCallId: '1', messages: [] } as never);
  const read = async () => {
    for await (const _ of results as AsyncIterable<number>) break;
  };
  await expect(read()).rejects.toThrow('not cleaned up');
  expect(await service.events('leaky')).toMatchObject([{ status: 499 }]);
});

test('closes an unread stream and records it as aborted', async () => {
  let isClosed = false;
  const endless = tool({
    inputSchema,
    async *execute({ to }) {
      try {
        while (true) yield to;
      } finally {
        isClosed = true;
      }
    },
  });
  const tools = actlog({ endless }, { recorder: service.recorder(), sessionId: 'given-up' });
  const results = tools.endless.execute?.({ to: 1 }, { toolCallId: '1', messages: [], context: {} });
  for await (const result of results as AsyncIterable<number>) {
    expect(result).toBe(1);
    break;
  }
  expect(isClosed).toBe(true);
  expect(await service.events('given-up')).toMatchObject([{ toolName: 'endless', status: 499 }]);
});

test('does not start a denied stream', async () => {
  const { policies } = service.client;
  const { id } = await service.denyTool('count');
  const tools = actlog({ count }, { recorder: service.guarded(), sessionId: 'no-stream' });
  const { seen } = await streamed(tools, 3);
  await policies.archive(id);
  expect(seen).toEqual([expect.stringMatching(/^The call of the tool "count" was not run/)]);
  expect(await service.events('no-stream')).toMatchObject([{ status: 403 }]);
});

test('recognizes the same call in an inner hook in the body of a stream', async () => {
  const recorder = service.recorder();
  const inner = recorder.forAdapter({ framework: 'another', sdk: '@example/another/1.0.0' });
  const sessionId = 'inside-stream';
  const twice = tool({
    inputSchema,
    async *execute(input) {
      yield 0;
      yield await inner.toolCall({ toolName: 'twice', arguments: input, sessionId }, async () => input.to);
    },
  });
  const model = modelOf([[callOf('twice', { to: 2 })]]);
  const tools = actlog({ twice }, { recorder, sessionId });
  await generateText({ model, prompt: 'go', tools, stopWhen: stepCountIs(2) });
  expect(toolResultsOf(model)).toEqual([{ text: '2', isError: false }]);
  expect(await service.events(sessionId)).toHaveLength(1);
});

test('returns the last result of a stream returned by a plain function', async () => {
  const tools = actlog(
    {
      count: {
        ...count,
        execute: (...args: Parameters<NonNullable<typeof count.execute>>) => count.execute?.(...args),
      } as typeof count,
    },
    { recorder: service.recorder(), sessionId: 'hidden-stream' },
  );
  expect(await streamed(tools, 3)).toEqual({
    seen: [[3, false]],
    toolResults: [{ text: '3', isError: false }],
  });
  expect(await service.events('hidden-stream')).toMatchObject([{ status: 200 }]);
});

test('returns the result of an async tool unchanged, even if it is iterable', async () => {
  let isRead = false;
  const page = {
    data: ['first'],
    async *[Symbol.asyncIterator]() {
      isRead = true;
      yield 'first of all pages';
    },
  };
  const list = tool({ inputSchema, execute: async () => page });
  const results: unknown[] = [];
  for (const tools of [{ list }, actlog({ list }, { recorder: service.recorder(), sessionId: 'page' })]) {
    const model = modelOf([[callOf('list', { to: 1 })]]);
    const { steps } = await generateText({ model, prompt: 'go', tools, stopWhen: stepCountIs(2) });
    results.push(steps[0]?.toolResults[0]?.output);
  }
  expect(results).toEqual([page, page]);
  expect(isRead).toBe(false);
  expect(await service.events('page')).toMatchObject([{ status: 200 }]);
});
