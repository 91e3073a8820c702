import { Service } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/recorder';
import { AdapterCalls, type AdapterOptions } from '@actlog/recorder/adapter';
import * as ai from 'ai';
import { generateText, stepCountIs, streamText, type ToolSet, tool } from 'ai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { callOf, modelOf, type Turn, toolResultsOf } from '../tests/model.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const inputSchema = z.object({ text: z.string() });
const echo = tool({ inputSchema, execute: async ({ text }) => `echo: ${text}` });
const fail = tool({
  inputSchema,
  execute: async (): Promise<string> => {
    throw Object.assign(new Error('it broke'), { status: 502 });
  },
});
const a = callOf('echo', { text: 'a' });

function settingsOf(turns: readonly Turn[], tools: ToolSet, more: object = {}) {
  return { model: modelOf(turns), prompt: 'go', tools, stopWhen: stepCountIs(turns.length + 1), ...more };
}

// `ai` 6 has no telemetry for tools.
describe.runIf('registerTelemetry' in ai)('telemetry', () => {
  test('records every call of a run without affecting it', async () => {
    const turns = [
      [a, callOf('fail', { text: 'b' }, '2'), callOf('nowhere', {}, '3')],
      [callOf('echo', {}, '4')],
    ];
    for (const isStreamed of [false, true]) {
      const sessionId = `all-${isStreamed}`;
      const integrations = [actlog.telemetry({ recorder: service.recorder(), sessionId })];
      const settings = settingsOf(turns, { echo, fail }, { telemetry: { integrations } });
      const bare = settingsOf(turns, { echo, fail });
      for (const each of [settings, bare]) {
        if (isStreamed) await streamText(each).consumeStream();
        else await generateText(each);
      }
      expect(toolResultsOf(settings.model)).toEqual(toolResultsOf(bare.model));
      const events = await service.storedEvents(sessionId);
      const seen = events.map(({ payload }) => `${payload?.toolName} ${payload?.responseStatus}`);
      expect(seen.sort()).toEqual(['echo 200', 'echo 400', 'fail 502', 'nowhere 404']);
      const hashes = events.map(({ payload }) => payload?.argumentsHash);
      expect(hashes).toContain(await hashArguments({ text: 'a' }));
    }
  });

  test('counts each call once with wrapped tools, a callback and a second installation', async () => {
    const options = { recorder: service.recorder(), sessionId: 'telemetry-twice' };
    const integrations = [actlog.telemetry(options), actlog.telemetry(options)];
    const tools = { echo: actlog({ echo }, options).echo, fail };
    const turns = [[a, callOf('fail', { text: 'b' }, '2'), callOf('nowhere', {}, '3')]];
    await generateText(
      settingsOf(turns, tools, { telemetry: { integrations }, onStepFinish: actlog.steps(options) }),
    );
    const seen = (await service.events('telemetry-twice')).map(({ toolName }) => toolName);
    expect(seen.sort()).toEqual(['echo', 'fail', 'nowhere']);
  });

  test('counts calls with the same id of an agent inside a tool separately', async () => {
    const options = { recorder: service.recorder(), sessionId: 'telemetry-nested' };
    const telemetry = { integrations: [actlog.telemetry(options)] };
    const ask = tool({
      inputSchema,
      execute: async () => (await generateText(settingsOf([[a]], { echo }, { telemetry }))).text,
    });
    await generateText(settingsOf([[{ ...a, toolName: 'ask' }]], { ask }, { telemetry }));
    const seen = (await service.events('telemetry-nested')).map(({ toolName }) => toolName);
    expect(seen.sort()).toEqual(['ask', 'echo']);
  });

  test("uses the caller's session for an agent inside a tool, but not for a later run", async () => {
    const recorder = service.recorder({ agentId: 'nesting' });
    const telemetry = { integrations: [actlog.telemetry({ recorder })] };
    const inner = () => generateText(settingsOf([[a], [callOf('nowhere', {})]], { echo }, { telemetry }));
    const ask = tool({ inputSchema, execute: async () => (await inner()).text });
    await generateText(settingsOf([[callOf('ask', { text: 'a' })]], { ask }, { telemetry }));
    await inner();
    await recorder.flush();
    const sessions = await service.client.agents.sessions('nesting').toArray({ limit: 10 });
    expect(sessions.map(({ eventCount }) => eventCount).sort()).toEqual([2, 3]);
  });

  test('shares the session of the wrapped tools when registered for the process', async () => {
    const registry = globalThis as { AI_SDK_TELEMETRY_INTEGRATIONS?: unknown };
    const before = registry.AI_SDK_TELEMETRY_INTEGRATIONS;
    const recorder = service.recorder({ agentId: 'registered' });
    try {
      ai.registerTelemetry(actlog.telemetry({ recorder }));
      const tools = { echo: actlog({ echo }, { recorder }).echo, fail };
      await generateText(settingsOf([[a], [callOf('fail', { text: 'b' })], [callOf('nowhere', {})]], tools));
      await generateText(settingsOf([[a]], tools));
    } finally {
      registry.AI_SDK_TELEMETRY_INTEGRATIONS = before;
    }
    await recorder.flush();
    const sessions = await service.client.agents.sessions('registered').toArray({ limit: 10 });
    expect(sessions.map(({ eventCount }) => eventCount).sort()).toEqual([1, 3]);
  });

  test('uses one session for a run with a callback', async () => {
    const recorder = service.recorder({ agentId: 'told-by-both' });
    const turns = [[a], [callOf('nowhere', {})]];
    const telemetry = { integrations: [actlog.telemetry({ recorder })] };
    const onStepFinish = actlog.steps({ recorder });
    await generateText(settingsOf(turns, { echo }, { telemetry, onStepFinish }));
    await streamText(settingsOf(turns, { echo }, { telemetry, onStepFinish })).consumeStream();
    await recorder.flush();
    const sessions = await service.client.agents.sessions('told-by-both').toArray({ limit: 10 });
    expect(sessions.map(({ eventCount }) => eventCount)).toEqual([2, 2]);
  });

  test('does not guard, so a wrapped tool may still be held', async () => {
    const { policies } = service.client;
    const match = { tools: ['echo'] };
    const { id } = await policies.create({ name: 'ask', effect: 'require_approval', match });
    const options = { recorder: service.guarded(), sessionId: 'telemetry-held' };
    const integrations = [actlog.telemetry(options)];
    const settings = settingsOf([[a]], actlog({ echo }, options), { telemetry: { integrations } });
    const run = generateText(settings);
    await service.decide('telemetry-held', 'approve');
    await run;
    await policies.archive(id);
    expect(toolResultsOf(settings.model)).toEqual([{ text: 'echo: a', isError: false }]);
    expect(await service.events('telemetry-held')).toMatchObject([{ status: 200 }]);
  });

  test("records a denial by the application's toolApproval", async () => {
    const telemetry = {
      integrations: [actlog.telemetry({ recorder: service.recorder(), sessionId: 'own-denial' })],
    };
    const toolApproval = () => ({ type: 'denied' as const, reason: 'not today' });
    await generateText(settingsOf([[a]], { echo }, { telemetry, toolApproval }));
    expect(await service.events('own-denial')).toMatchObject([{ toolName: 'echo', status: 403 }]);
  });

  test('records no hash for arguments hidden from telemetry', async () => {
    const integrations = [actlog.telemetry({ recorder: service.recorder(), sessionId: 'hidden' })];
    await generateText(settingsOf([[a]], { echo }, { telemetry: { integrations, recordInputs: false } }));
    const [event] = await service.storedEvents('hidden');
    expect(event?.payload).toMatchObject({ toolName: 'echo', argumentsHash: 'sha256:unavailable' });
  });

  test.each([true, false])('records a call with spans once, reported before them: %s', async (isFirst) => {
    const sessionId = `telemetry-spans-${isFirst}`;
    const options = { recorder: service.recorder(), sessionId };
    const spans = spanningIntegration(options);
    const own = [actlog.telemetry(options), actlog.telemetry(options)];
    const integrations = isFirst ? [...own, spans] : [spans, ...own];
    const tools = { echo: actlog({ echo }, options).echo, fail };
    const searching = { ...callOf('search', { query: 'a' }), providerExecuted: true, dynamic: true };
    const found = { ...searching, type: 'tool-result', result: ['x'] } as const;
    const turns = [
      [a, callOf('fail', { text: 'b' }, '2')],
      [searching, found],
    ];
    for (const run of [generateText, streamText]) {
      const result = await run(settingsOf(turns, tools, { telemetry: { integrations } }));
      await result.text;
    }
    const seen = (await service.events(sessionId)).map(({ toolName }) => toolName).sort();
    const once = ['echo', 'fail', 'search'];
    expect(seen).toEqual([...once, ...once].sort());
  });
});

/** Ends spans like `@ai-sdk/otel` and passes their calls on like the adapter for OpenTelemetry. */
function spanningIntegration(options: AdapterOptions) {
  const calls = new AdapterCalls({ framework: 'opentelemetry', sdk: 'spans' }, options);
  const end = ({ toolName, toolCallId: callId, input }: ToolPart) =>
    calls.recordUnhooked({ toolName, callId, arguments: input }, { ok: true, result: undefined });
  return {
    onToolExecutionEnd: ({ toolCall }: { toolCall: ToolPart }) => end(toolCall),
    onLanguageModelCallEnd({ content }: { content: readonly ToolPart[] }) {
      for (const part of content) if (part.type === 'tool-call' && part.providerExecuted) end(part);
    },
  };
}

interface ToolPart {
  readonly type: string;
  readonly toolName: string;
  readonly toolCallId: string;
  readonly input?: unknown;
  readonly providerExecuted?: boolean;
}
