import { Service } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/recorder';
import type { GenerateContentResponse, ToolUnion } from '@google/genai';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Turn, toolOf, withModel } from '../tests/model.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.client.policies.create({
    name: 'no',
    effect: 'deny',
    match: { tools: ['pay'] },
    message: 'No.',
  });
});
afterAll(() => service.close());

const model = 'scripted';

/** Runs one request and returns the function responses that the model received. */
function responsesTo(turn: Turn, tools: ToolUnion[], options: Parameters<typeof actlog>[1]) {
  return withModel([turn], async (client, scripted) => {
    await actlog(client, options).models.generateContent({ model, contents: 'go', config: { tools } });
    return scripted.responses();
  });
}

async function drained(stream: AsyncIterable<GenerateContentResponse>): Promise<void> {
  for await (const _ of stream);
}

test('passes each call to the tool that declares its function, and records equal calls apart', async () => {
  const heard: string[] = [];
  const tool = (name: string) => {
    const own = toolOf({ [name]: () => name });
    return {
      tool: own.tool,
      callTool(calls: Turn) {
        heard.push(`${name}: ${calls.map((call) => call.name)}`);
        return own.callTool([...calls]);
      },
    };
  };
  const turn = [{ name: 'second' }, { name: 'first', args: { a: 1 } }, { name: 'second' }];
  const options = { recorder: service.recorder(), sessionId: 'tools' };
  const responses = await responsesTo(turn, [tool('first'), tool('second')], options);
  expect(heard).toEqual(['first: first', 'second: second', 'second: second']);
  expect(responses).toEqual([{ output: 'first' }, { output: 'second' }, { output: 'second' }]);
  const hashes = (await service.storedEvents('tools')).map(({ payload }) => payload?.argumentsHash);
  const empty = await hashArguments({});
  expect(hashes).toEqual([await hashArguments({ a: 1 }), empty, empty]);
});

test('passes a call of an unknown function to all tools as one call, and checks it', async () => {
  const offered: string[] = [];
  const tool = (result: string[]) => ({
    tool: async () => ({ functionDeclarations: [] }),
    callTool: async ([call]: Turn) => {
      offered.push(String(call?.name));
      return result.map((output) => ({ functionResponse: { response: { output } } }));
    },
  });
  const options = { recorder: service.guarded(), sessionId: 'unknown' };
  expect(await responsesTo([{ name: 'hidden' }], [tool([]), tool(['ran'])], options)).toEqual([
    { output: 'ran' },
  ]);
  await responsesTo([{ name: 'nowhere' }, { name: 'pay' }], [tool([]), tool([])], options);
  expect(offered).toEqual(['hidden', 'hidden', 'nowhere', 'nowhere']);
  const lines = await service.callLines('unknown');
  expect(lines).toEqual(['tester hidden 200', 'tester nowhere 404', 'tester pay 403']);
});

test('records a call at which the SDK ends a stream because its function is unknown', async () => {
  const options = { recorder: service.recorder(), sessionId: 'unknown-in-stream' };
  await withModel([[{ name: 'nowhere', args: { a: 1 } }]], async (client) => {
    const recorded = actlog(actlog(client, options), options);
    const config = { tools: [toolOf({ echo: () => 'ran' })] };
    const stream = await recorded.models.generateContentStream({ model, contents: 'go', config });
    await expect(drained(stream)).rejects.toThrow('nowhere');
  });
  expect(await service.callLines(options.sessionId)).toEqual(['tester nowhere 404']);
});

test('returns a denial as the response of its call, with its id', async () => {
  const ran: unknown[] = [];
  const tools = [toolOf({ pay: (args: unknown) => ran.push(args), look: () => 'seen' })];
  const turn = [{ id: 'call-1', name: 'pay' }, { name: 'look' }];
  await withModel([turn], async (client, { sent }) => {
    const recorded = actlog(client, { recorder: service.guarded(), sessionId: 'denied' });
    await drained(await recorded.models.generateContentStream({ model, contents: 'go', config: { tools } }));
    const [denied, looked] = sent.at(-1)?.contents.at(-1)?.parts ?? [];
    expect(denied?.functionResponse).toMatchObject({ id: 'call-1', name: 'pay' });
    expect(denied?.functionResponse?.response).toEqual({
      error: expect.stringMatching(/^The call of the tool "pay" was not run: .*No\./),
    });
    expect(looked?.functionResponse?.response).toEqual({ output: 'seen' });
  });
  expect(ran).toEqual([]);
  expect(await service.callLines('denied')).toEqual(['tester pay 403', 'tester look 200']);
});

test('derives the status of a failure that a tool returns from its error', async () => {
  const errors: Record<string, unknown> = { text: 'it broke', http: { status: 429 }, none: null };
  const tool = {
    tool: async () => ({ functionDeclarations: Object.keys(errors).map((name) => ({ name })) }),
    callTool: async ([call]: Turn) => [
      { functionResponse: { response: { error: errors[String(call?.name)] } } },
    ],
  };
  const turn = Object.keys(errors).map((name) => ({ name }));
  const options = { recorder: service.recorder(), sessionId: 'returned-errors' };
  const responses = await responsesTo(turn, [tool], options);
  expect(responses).toEqual([{ error: 'it broke' }, { error: { status: 429 } }, { error: null }]);
  const lines = await service.callLines(options.sessionId);
  expect(lines).toEqual(['tester text 500', 'tester http 429', 'tester none 200']);
});

test('ends the turn at the first call that throws, as a tool of the SDK does', async () => {
  const ran: string[] = [];
  const fail = () => {
    ran.push('fail');
    throw new Error('it broke');
  };
  const tools = [toolOf({ fail, next: () => ran.push('next') })];
  const options = { recorder: service.recorder(), sessionId: 'throws' };
  const run = responsesTo([{ name: 'fail' }, { name: 'next' }], tools, options);
  await expect(run).rejects.toThrow('it broke');
  expect(ran).toEqual(['fail']);
  expect(await service.callLines('throws')).toEqual(['tester fail 500']);
});

test('leaves requests alone whose functions the SDK does not run', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {}); // the SDK's, of the limit
  const automaticFunctionCalling = [{ disable: true }, { maximumRemoteCalls: 0 }];
  for (const calling of [...automaticFunctionCalling, undefined]) {
    const tools = calling ? [toolOf({ echo: () => 'ran' })] : [{ functionDeclarations: [{ name: 'echo' }] }];
    const config = { tools, ...(calling && { automaticFunctionCalling: calling }) };
    await withModel([[{ name: 'echo' }], [{ name: 'nowhere' }]], async (client, { sent }) => {
      const recorded = actlog(client, { recorder: service.recorder(), sessionId: 'by-hand' });
      const response = await recorded.models.generateContent({ model, contents: 'go', config });
      expect(response.functionCalls).toEqual([{ name: 'echo' }]);
      await drained(await recorded.models.generateContentStream({ model, contents: 'go', config }));
      expect(sent).toHaveLength(2);
    });
  }
  warn.mockRestore();
  expect(await service.events('by-hand')).toEqual([]);
});

test("keeps the caller's request, and excluded tools as they are", async () => {
  const tool = toolOf({ echo: () => 'ran', left: () => 'alone' });
  const params = { model, contents: 'go', config: { tools: [tool] } };
  await withModel([[{ name: 'echo' }, { name: 'left' }]], async (client, scripted) => {
    const options = { recorder: service.recorder(), sessionId: 'request', exclude: ['left'] };
    await actlog(client, options).models.generateContent(params);
    expect(scripted.responses()).toEqual([{ output: 'ran' }, { output: 'alone' }]);
    await drained(await client.models.generateContentStream(params));
  });
  expect(params).toEqual({ model, contents: 'go', config: { tools: [tool] } });
  expect(params.config.tools[0]).toBe(tool);
  expect(await service.callLines('request')).toEqual(['tester echo 200']);
});

test('refuses what is no client', () => {
  for (const target of [undefined, {}, { models: {} }]) {
    expect(() => actlog(target as never)).toThrow('actlog: pass a client');
  }
});
