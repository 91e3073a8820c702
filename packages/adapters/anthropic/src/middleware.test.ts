import { Service } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/recorder';
import { AdapterCalls } from '@actlog/recorder/adapter';
import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { type Block, clientOf, toolUse, webSearch } from '../tests/model.ts';
import { actlog } from './index.ts';
import { toolUses } from './tool-uses.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const echo = betaZodTool({
  name: 'echo',
  description: 'Says it again.',
  inputSchema: z.object({ text: z.string() }),
  run: ({ text }) => `echo: ${text}`,
});
const question = { role: 'user' as const, content: 'go' };
const request = { model: 'scripted', max_tokens: 1, messages: [question] };

/** Sends one request, with and without streaming, and returns the recorded calls, which must be equal. */
async function recordedOf(name: string, ...turns: (readonly Block[])[]) {
  const sessions = [`${name}-whole`, `${name}-streamed`];
  for (const sessionId of sessions) {
    const { client } = clientOf(turns, {
      middleware: [actlog.middleware({ recorder: service.recorder(), sessionId })],
    });
    for (const _turn of turns) {
      if (sessionId.endsWith('whole')) await client.messages.create(request);
      else await client.messages.stream(request).finalMessage();
    }
  }
  const [whole, streamed] = await Promise.all(sessions.map((id) => service.storedEvents(id)));
  const seen = (events = whole) =>
    events?.map(({ payload }) => [payload?.toolName, payload?.responseStatus, payload?.argumentsHash]);
  expect(seen(streamed)).toEqual(seen());
  return seen();
}

test('records a tool run by Anthropic with its arguments and outcome', async () => {
  const hash = await hashArguments({ query: 'a' });
  expect(await recordedOf('found', webSearch('a', []))).toEqual([['web_search', 200, hash]]);
  const codes = { too_many_requests: 429, invalid_tool_input: 400, unavailable: 503, of_the_future: 500 };
  for (const [error_code, status] of Object.entries(codes)) {
    const failed = webSearch('a', { type: 'web_search_tool_result_error', error_code });
    expect(await recordedOf(error_code, failed)).toEqual([['web_search', status, hash]]);
  }
  for (const [return_code, status] of [
    [0, 200],
    [1, 500],
  ] as const) {
    const use = { type: 'server_tool_use', id: `srvtoolu_${status}`, name: 'bash_code_execution', input: {} };
    const content = { type: 'bash_code_execution_result', stdout: '', stderr: '', return_code, content: [] };
    const result = { type: 'bash_code_execution_tool_result', tool_use_id: use.id, content };
    expect(await recordedOf(`bash-${status}`, [use, result])).toEqual([
      [use.name, status, await hashArguments({})],
    ]);
  }
});

test('records tools of an MCP server, and results in a later response', async () => {
  const hash = await hashArguments({ query: 'a' });
  const use = {
    type: 'mcp_tool_use',
    id: 'mcptoolu_1',
    name: 'find',
    server_name: 'shop',
    input: { query: 'a' },
  };
  const result = { type: 'mcp_tool_result', tool_use_id: 'mcptoolu_1', is_error: true, content: 'no' };
  expect(await recordedOf('mcp', [use, result])).toEqual([['find', 500, hash]]);
  const [asked, found] = webSearch('a', []);
  expect(await recordedOf('later', [asked], [found])).toEqual([['web_search', 200, hash]]);
});

test('leaves a call to its span if that has ended before the result is sent', async () => {
  const options = { recorder: service.recorder(), sessionId: 'span-first' };
  const spans = new AdapterCalls({ framework: 'opentelemetry', sdk: 'spans' }, options);
  const call = { ...toolUse('echo', { text: 'a' }), id: 'toolu_span-first' };
  const { client } = clientOf([[call]], { middleware: [actlog.middleware(options)] });
  const run = () => {
    spans.recordUnhooked({ toolName: 'echo', callId: call.id, arguments: {} }, { ok: true, result: '' });
    return '';
  };
  await client.beta.messages.toolRunner({ ...request, tools: [{ ...echo, run }] }).runUntilDone();
  expect(await service.events('span-first')).toHaveLength(1);
});

test('records each call of a tool runner once, in the conversation of its traces', async () => {
  const options = { recorder: service.recorder() };
  for (const isEager of [false, true]) {
    const turns = [[toolUse('echo', { text: 'a' }), toolUse('nowhere', {})], [toolUse('echo', { text: 5 })]];
    const { client } = clientOf(turns, {
      middleware: [actlog.middleware(options), actlog.middleware(options)],
    });
    const tools = actlog([echo], options);
    // Options are copied, and the middleware with them.
    const { messages } = client.withOptions({ maxRetries: 1 }).beta;
    const conversationId = `runner-${isEager}`;
    const eager = { stream: true, runToolsEagerly: true };
    await messages
      .toolRunner({ ...request, tools, ...(isEager && eager) }, { openTelemetry: { conversationId } })
      .runUntilDone();
    const seen = (await service.events(conversationId)).map(
      ({ toolName, status }) => `${toolName} ${status}`,
    );
    expect(seen.sort()).toEqual(['echo 200', 'echo 400', 'nowhere 404']);
  }
});

test('records calls that run while streaming once, in their conversation', async () => {
  const recorder = service.recorder();
  const adapter = { recorder };
  const texts = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const said = { type: 'text', text: 'Let me see.' };
  const { client } = clientOf([[said, ...texts.map((text) => toolUse('echo', { text }))]], {
    middleware: [actlog.middleware(adapter)],
  });
  await client.beta.messages
    .toolRunner(
      { ...request, tools: actlog([echo], adapter), stream: true, runToolsEagerly: true },
      { openTelemetry: { conversationId: 'in-one-piece' } },
    )
    .runUntilDone();
  const stored = await service.storedEvents('in-one-piece');
  const hashes = stored.map(({ payload }) => payload?.argumentsHash);
  const expected = await Promise.all(texts.map((text) => hashArguments({ text })));
  expect(hashes.sort()).toEqual(expected.sort());
  expect(recorder.stats()).toMatchObject({ recorded: texts.length });
});

test('uses one session per unnamed conversation', async () => {
  const recorder = service.recorder({ agentId: 'conversations' });
  for (let run = 0; run < 2; run += 1) {
    const { client } = clientOf([[toolUse('echo', { text: 'a' })], [toolUse('echo', { text: 'b' })]], {
      middleware: [actlog.middleware({ recorder })],
    });
    const messages = [{ ...question }];
    await client.beta.messages
      .toolRunner({ ...request, messages, tools: actlog([echo], { recorder }) })
      .runUntilDone();
  }
  await recorder.flush();
  const sessions = await service.client.agents.sessions('conversations').toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount)).toEqual([2, 2]);
});

test.each([false, true])(
  'uses one session per thread with incremental requests (streamed: %s)',
  async (stream) => {
    const agentId = `threads-${stream}`;
    const recorder = service.recorder({ agentId });
    const turns = [webSearch('a', []), webSearch('b', []), webSearch('c', [])];
    for (let run = 0; run < 2; run += 1) {
      const { client } = clientOf(turns, { middleware: [actlog.middleware({ recorder })] });
      const ask = async (
        messages: Anthropic.Beta.BetaMessageParam[],
        thread: Anthropic.Beta.BetaMessageThreadParam,
      ) => {
        const body = { ...request, messages, thread };
        return stream ? client.beta.messages.stream(body).finalMessage() : client.beta.messages.create(body);
      };
      const first = await ask([{ ...question }], { type: 'create' });
      const resumed = await ask([], { type: 'continue', previous_message_id: first.id });
      await ask([{ role: 'user', content: 'go on' }], { type: 'continue', previous_message_id: resumed.id });
    }
    await recorder.flush();
    const sessions = await service.client.agents.sessions(agentId).toArray({ limit: 10 });
    expect(sessions.map(({ eventCount }) => eventCount)).toEqual([3, 3]);
  },
);

test('counts a reused id as another call', async () => {
  const options = { recorder: service.recorder(), sessionId: 'same-ids' };
  const turn = [toolUse('echo', { text: 'a' }, 'call_0')];
  const { client } = clientOf([turn, turn], { middleware: [actlog.middleware(options)] });
  await client.beta.messages.toolRunner({ ...request, tools: [echo] }).runUntilDone();
  expect(await service.events('same-ids')).toHaveLength(2);
});

test('releases an input after its result was sent, and reads it from the message if sent again', async () => {
  const call = toolUse('echo', { text: 'a' });
  const run = (sessionId: string, messages: Anthropic.MessageParam[], ...turns: (readonly Block[])[]) => {
    const middleware = [actlog.middleware({ recorder: service.recorder(), sessionId })];
    const { beta } = clientOf(turns, { middleware }).client;
    return beta.messages.toolRunner({ ...request, messages, tools: [echo] });
  };
  const runner = run('taken', [question], [call]);
  await runner.runUntilDone();
  expect(toolUses().find(call.id as string)).toMatchObject({ toolName: 'echo', input: undefined });
  await run('sent-again', runner.params.messages.slice(0, 3) as Anthropic.MessageParam[]).runUntilDone();
  const argumentsHash = await hashArguments({ text: 'a' });
  for (const sessionId of ['taken', 'sent-again']) {
    const stored = await service.storedEvents(sessionId);
    expect(stored.map(({ payload }) => payload)).toMatchObject([{ toolName: 'echo', argumentsHash }]);
  }
});

/** Creates a client of a service that sends these events, and then many text deltas. */
function talkativeClient(events: readonly object[], recorder: ReturnType<Service['recorder']>) {
  const left: unknown[] = [];
  const text = { type: 'content_block_delta', index: 9, delta: { type: 'text_delta', text: 'on' } };
  const pending = [...events, ...Array(100).fill(text)];
  const body = () =>
    new ReadableStream({
      type: 'bytes',
      async pull(controller) {
        await new Promise(setImmediate); // as over a network, where other work runs meanwhile
        const event = pending.shift();
        if (!event) return controller.close();
        const type = 'type' in event ? event.type : '';
        controller.enqueue(new TextEncoder().encode(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`));
      },
      cancel(reason) {
        left.push(reason);
      },
    });
  const headers = { 'content-type': 'text/event-stream', 'request-id': 'req_1' };
  const fetch = async () => new Response(body(), { status: 203, statusText: 'So', headers });
  const middleware = [actlog.middleware({ recorder })];
  return { client: new Anthropic({ apiKey: 'none', maxRetries: 0, fetch, middleware }), left };
}

test('ends the request of a stream closed early, and records the part that was read', async () => {
  const [search, found] = webSearch('a', []);
  const blocks = [search, found].flatMap((content_block, index) => [
    { type: 'content_block_start', index, content_block },
    { type: 'content_block_stop', index },
  ]);
  const { client, left } = talkativeClient(blocks, service.recorder());
  const options = { openTelemetry: { conversationId: 'left-early' } };
  for await (const { type } of await client.messages.create({ ...request, stream: true }, options)) {
    if (type === 'content_block_delta') break;
  }
  expect(left).toHaveLength(1);
  expect(await service.events('left-early')).toMatchObject([{ toolName: 'web_search', status: 200 }]);
});

test('passes on a stream unchanged, and allows closing it early', async () => {
  const { client, left } = talkativeClient([{ no: 'event' }], service.recorder());
  const response = await client.messages.create({ ...request, stream: true }).asResponse();
  expect([response.status, response.statusText]).toEqual([203, 'So']);
  expect(response.headers.get('request-id')).toBe('req_1');
  const reader = (response.body as ReadableStream).getReader({ mode: 'byob' });
  const { value } = await reader.read(new Uint8Array(1000));
  expect(new TextDecoder().decode(value)).toBe('event: \ndata: {"no":"event"}\n\n');
  await reader.cancel('enough');
  expect(left).toEqual(['enough']);
});

type Controller = ReadableStreamDefaultController<unknown> | ReadableByteStreamController;

test.each(['bytes', undefined] as const)('passes on the failure of a stream (%s)', async (type) => {
  const pulls = [
    (controller: Controller) =>
      controller.enqueue(new TextEncoder().encode('event: message_stop\ndata: {\n\n') as never),
    (controller: Controller) => controller.error(new Error('it broke')),
  ];
  const pull = (controller: Controller) => pulls.shift()?.(controller);
  const body = () =>
    type ? new ReadableStream({ type, pull }) : new ReadableStream({ pull }, { highWaterMark: 0 });
  const fetch = async () => new Response(body() as ReadableStream);
  const middleware = [actlog.middleware({ recorder: service.recorder() })];
  const client = new Anthropic({ apiKey: 'none', maxRetries: 0, logLevel: 'off', fetch, middleware });
  const response = await client.messages.create({ ...request, stream: true }).asResponse();
  const reader = (response.body as ReadableStream).getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toContain('message_stop');
  await expect(reader.read()).rejects.toThrow('it broke');
});

test('passes on invalid responses and other requests unchanged', async () => {
  const bodies = ['{', '{"content":[null]}', '[]'];
  const fetch = async () => new Response(bodies.shift(), { headers: { 'content-type': 'application/json' } });
  const middleware = [actlog.middleware({ recorder: service.recorder() })];
  const client = new Anthropic({ apiKey: 'none', maxRetries: 0, fetch, middleware });
  await expect(client.messages.create(request)).rejects.toThrow('JSON');
  expect(
    await client.messages.create({ ...request, messages: [{ role: 'assistant', content: 'so' }] }),
  ).toEqual({
    content: [null],
  });
  expect(await client.messages.countTokens({ model: 'scripted', messages: [question] })).toEqual([]);
});
