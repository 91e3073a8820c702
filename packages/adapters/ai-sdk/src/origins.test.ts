import { Service } from '@actlog/adapter-suite';
import type { Recorder } from '@actlog/recorder';
import * as ai from 'ai';
import { generateText, type ModelMessage, stepCountIs, type ToolSet, tool } from 'ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { callOf, modelOf, type Turn } from '../tests/model.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

// `ai` 6 has no telemetry for tools.
const hooks = 'registerTelemetry' in ai ? (['tools', 'telemetry'] as const) : (['tools'] as const);
type Hook = (typeof hooks)[number];

const address = 'kim.oduya@payments.example';
const account = 'DE89370400440532013000';
const pay = `Please pay ${account} today.`;
const sendAccount = [callOf('send', { to: account }, 'pay')];
const sendAddress = [callOf('send', { to: address }, 'mail')];
const send = tool({ inputSchema: z.object({ to: z.string() }), execute: async () => 'Sent.' });

/** Settings of a run whose calls are recorded by a hook. */
function settingsOf(hook: Hook, recorder: Recorder, turns: readonly Turn[], tools: ToolSet) {
  const integrations = [actlog.telemetry({ recorder })];
  return {
    model: modelOf(turns),
    stopWhen: stepCountIs(turns.length + 1),
    ...(hook === 'tools' ? { tools: actlog(tools, { recorder }) } : { tools, telemetry: { integrations } }),
  };
}

function traced() {
  return service.recorder({ origins: true });
}

/** Returns the origins of the argument `to` of the calls of `send`. */
async function originsOf(sessionId: string) {
  const reported = await service.argumentOrigins(sessionId, 'send');
  return reported.map(({ origins }) => origins.to);
}

test.each(hooks)('by %s, sees text parts of the user, and nothing that the model said', async (hook) => {
  const messages: ModelMessage[] = [
    { role: 'user', content: [{ type: 'text', text: pay }] },
    { role: 'assistant', content: `I ask ${address}.` },
    { role: 'user', content: 'go on' },
  ];
  const recorder = traced();
  const settings = settingsOf(hook, recorder, [sendAccount, sendAddress], { send });
  await recorder.session(`parts-${hook}`).run(() => generateText({ ...settings, messages }));
  expect(await originsOf(`parts-${hook}`)).toEqual([{ from: 'user' }, { from: 'model' }]);
});

test.each(hooks)('by %s, notes texts in the session of a conversation without an id', async (hook) => {
  const recorder = traced();
  const started = new Date();
  const settings = settingsOf(hook, recorder, [sendAccount], { send });
  await generateText({ ...settings, prompt: pay });
  await recorder.flush();
  const sessions = await service.client.sessions.list().toArray({ limit: 100 });
  const own = sessions.filter(({ startedAt }) => new Date(String(startedAt)) >= started);
  const origins = await Promise.all(own.map(({ id }) => originsOf(id)));
  expect(origins.flat()).toContainEqual({ from: 'user' });
});

test.each(hooks)(
  'by %s, does not take the prompt of an agent in a tool, written by a model, for a text of the user',
  async (hook) => {
    const recorder = traced();
    const ask = tool({
      inputSchema: z.object({}),
      execute: async () => {
        const settings = settingsOf(hook, recorder, [sendAccount], { send });
        return (await generateText({ ...settings, prompt: pay })).text;
      },
    });
    const settings = settingsOf(hook, recorder, [[callOf('ask', {})]], { ask });
    await recorder.session(`inner-${hook}`).run(() => generateText({ ...settings, prompt: 'go' }));
    expect(await originsOf(`inner-${hook}`)).toEqual([{ from: 'model' }]);
  },
);

test.each(hooks)('by %s, finds a field in a value, and in the content of an MCP tool', async (hook) => {
  const recorder = traced();
  const inputSchema = z.object({});
  const read = tool({ inputSchema, execute: async () => ({ address }) });
  const content = [{ type: 'text', text: JSON.stringify({ account }) }];
  const ofServer = tool({ inputSchema, execute: async () => ({ content }) });
  const turns = [[callOf('read', {})], [callOf('ofServer', {})], sendAddress, sendAccount];
  const settings = settingsOf(hook, recorder, turns, { send, read, ofServer });
  await recorder.session(`results-${hook}`).run(() => generateText({ ...settings, prompt: 'go' }));
  expect(await originsOf(`results-${hook}`)).toMatchObject([
    { from: 'tool', as: 'field', toolName: 'read' },
    { from: 'tool', as: 'field', toolName: 'ofServer' },
  ]);
});

test.runIf('registerTelemetry' in ai)('the telemetry sees instructions that are messages', async () => {
  const recorder = traced();
  const settings = settingsOf('telemetry', recorder, [sendAccount], { send });
  const system = [{ role: 'system' as const, content: `Pay ${account}.` }];
  await recorder
    .session('instructions')
    .run(() => generateText({ ...settings, system: system as never, prompt: 'go' }));
  expect(await originsOf('instructions')).toEqual([{ from: 'system' }]);
});
