import { Service } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/recorder';
import * as ai from 'ai';
import { generateText, stepCountIs, streamText, type ToolSet, tool } from 'ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { callOf, modelOf, type Turn } from '../tests/model.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const inputSchema = z.object({ text: z.string() });
const echo = tool({ inputSchema, execute: async ({ text }) => `echo: ${text}` });

/** A tool that the provider runs; both majors accept this shape. */
const search = {
  type: 'provider',
  id: 'test.search',
  args: {},
  isProviderExecuted: true,
  supportsDeferredResults: true,
  inputSchema: z.object({ query: z.string() }),
  outputSchema: z.unknown(),
};

const searching = { ...callOf('search', { query: 'a' }), providerExecuted: true };
const found = {
  type: 'tool-result' as const,
  toolCallId: 'call-search',
  toolName: 'search',
  result: { hits: 2 },
};

/** Runs these turns, with and without streaming, and returns the recorded calls, which must be equal. */
async function recordedOf(name: string, turns: readonly Turn[], tools: ToolSet, more: object = {}) {
  const sessions = [`${name}-generated`, `${name}-streamed`];
  const settings = (sessionId: string) => {
    const options = { recorder: service.recorder(), sessionId };
    return {
      model: modelOf(turns),
      prompt: 'go',
      tools: actlog(tools, options),
      stopWhen: stepCountIs(turns.length + 1),
      onStepFinish: actlog.steps(options),
      ...more,
    };
  };
  await generateText(settings(sessions[0] as string));
  await streamText(settings(sessions[1] as string)).consumeStream();
  const [generated, streamed] = await Promise.all(sessions.map((id) => service.storedEvents(id)));
  const seen = (events = generated) =>
    events?.map(({ payload }) => `${payload?.toolName} ${payload?.responseStatus}`);
  expect(seen(streamed)).toEqual(seen());
  return { seen: seen(), hashes: generated?.map(({ payload }) => payload?.argumentsHash) };
}

test('records a provider call with its result, in whichever step it arrives', async () => {
  const hash = await hashArguments({ query: 'a' });
  const tools = { echo, search } as never;
  expect(await recordedOf('provider', [[searching, found]], tools)).toEqual({
    seen: ['search 200'],
    hashes: [hash],
  });
  const failed = { ...found, result: { error: 'no' }, isError: true };
  expect((await recordedOf('failed', [[searching, failed]], tools)).seen).toEqual(['search 500']);
  const exits = [{ return_code: 1 }, { output: [{ outcome: { type: 'exit', exitCode: 1 } }] }];
  for (const [index, result] of exits.entries()) {
    const { seen } = await recordedOf(`exit-${index}`, [[searching, { ...found, result }]], tools);
    expect(seen).toEqual(['search 500']);
  }
  const turns = [[searching, callOf('echo', { text: 'x' })], [found]];
  const later = await recordedOf('deferred', turns, tools);
  expect(later.seen?.toSorted()).toEqual(['echo 200', 'search 200']);
  expect(later.hashes).toContain(hash);
});

test('records a client call as handed over', async () => {
  const ask = tool({ inputSchema, outputSchema: z.string() });
  const turns = [[callOf('ask', { text: 'x' }), callOf('echo', { text: 'x' })]];
  const { seen } = await recordedOf('client', turns, { ask, echo });
  expect(seen?.toSorted()).toEqual(['ask 202', 'echo 200']);
});

// Only `ai` 7 supports the setting.
test.runIf('registerTelemetry' in ai)(
  'records a client call approved by toolApproval, and no other',
  async () => {
    const ask = tool({ inputSchema, outputSchema: z.string() });
    const approvals = { ask: 'approved', other: 'user-approval', never: 'denied' };
    const turns = [Object.keys(approvals).map((name) => callOf(name, { text: 'x' }))];
    const tools = { ask, other: ask, never: ask };
    const { seen } = await recordedOf('approved', turns, tools, { toolApproval: approvals });
    expect(seen?.toSorted()).toEqual(['ask 202', 'never 403']);
  },
);

test.runIf('registerTelemetry' in ai)(
  'records a provider call with its result, even if toolApproval denies it',
  async () => {
    const { seen } = await recordedOf('late', [[searching, found]], { search } as never, {
      toolApproval: () => 'denied',
    });
    expect(seen).toEqual(['search 200']);
  },
);

test('records invalid arguments that are not JSON', async () => {
  const { seen } = await recordedOf('no-json', [[{ ...callOf('echo', {}), input: '{' } as never]], { echo });
  expect(seen).toEqual(['echo 400']);
});

test('records a repaired call once, and an unrepairable one with its original error', async () => {
  const turns = [[callOf('eco', { text: 'x' })]];
  const repair = async ({ toolCall }: { toolCall: object }) => ({ ...toolCall, toolName: 'echo' });
  const repaired = { experimental_repairToolCall: repair };
  expect((await recordedOf('repaired', turns, { echo }, repaired)).seen).toEqual(['echo 200']);
  const failing = { experimental_repairToolCall: () => Promise.reject(new Error('cannot')) };
  expect((await recordedOf('unrepaired', turns, { echo }, failing)).seen).toEqual(['eco 404']);
});

test('excludes tools here too, and counts duplicate reports once', async () => {
  const options = { recorder: service.recorder(), sessionId: 'twice', exclude: ['nowhere'] };
  const [first, second] = [actlog.steps(options), actlog.steps(options)];
  await generateText({
    model: modelOf([[callOf('nowhere', {}), callOf('somewhere', {})]]),
    prompt: 'go',
    tools: { echo },
    onStepFinish: (step) => {
      first(step);
      second(step);
    },
  });
  expect(await service.events('twice')).toMatchObject([{ toolName: 'somewhere', status: 404 }]);
});

test('does not record a truncated call', async () => {
  const content = [{ type: 'tool-call', toolCallId: '1', toolName: 'echo', input: {} }];
  const steps = actlog.steps({ recorder: service.recorder(), sessionId: 'cut' });
  steps({ content, finishReason: 'length' });
  expect(await service.events('cut')).toEqual([]);
});

test('records what reaches no tool in the session of the calls beside and before it', async () => {
  const options = { recorder: service.recorder({ agentId: 'beside' }) };
  const invalid = callOf('echo', { text: 1 }, 'call-invalid');
  for (const prompt of ['one', 'two']) {
    const turns = [
      [callOf('echo', { text: 'x' }), invalid],
      ...('registerTelemetry' in ai ? [[invalid]] : []),
    ];
    await generateText({
      model: modelOf(turns),
      prompt,
      tools: actlog({ echo }, options),
      stopWhen: stepCountIs(3),
      onStepFinish: actlog.steps(options),
    });
  }
  await service.events('none');
  const sessions = await service.client.agents.sessions('beside').toArray({ limit: 10 });
  const expected = 'registerTelemetry' in ai ? 3 : 2;
  expect(sessions.map(({ eventCount }) => eventCount)).toEqual([expected, expected]);
});
