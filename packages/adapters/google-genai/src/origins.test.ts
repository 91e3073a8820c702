import { Service } from '@actlog/adapter-suite';
import type { ContentListUnion, ContentUnion } from '@google/genai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toolOf, withModel } from '../tests/model.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const account = 'DE89370400440532013000';
const text = `Please pay 250 to ${account} today.`;
const tools = [toolOf({ pay: () => 'paid' })];

/** Returns the origin of the argument `to` of a call of `pay`. */
async function originIn(sessionId: string, contents: ContentListUnion, systemInstruction?: ContentUnion) {
  await withModel([[{ name: 'pay', args: { to: account } }]], async (client) => {
    const recorder = service.recorder({ origins: true });
    const config = { tools, ...(systemInstruction !== undefined && { systemInstruction }) };
    await actlog(client, { recorder, sessionId }).models.generateContent({ model: 'm', contents, config });
  });
  const [reported] = await service.argumentOrigins(sessionId, 'pay');
  return reported?.origins.to;
}

test("sees the user's text in every form of a request's contents", async () => {
  const forms: ContentListUnion[] = [
    text,
    { text },
    ['Hello.', { text }],
    { parts: [{ text }] },
    [{ role: 'user', parts: [{ text }] }],
    [
      { parts: [{ text }] },
      { role: 'model', parts: [{ text: 'Sure?' }] },
      { role: 'user', parts: [{ text: 'Yes.' }] },
    ],
  ];
  for (const [index, contents] of forms.entries()) {
    expect(await originIn(`user-${index}`, contents)).toEqual({ from: 'user' });
  }
});

test('sees the system instruction in every form', async () => {
  const forms: ContentUnion[] = [text, { text }, [text], { role: 'user', parts: [{ text }] }];
  for (const [index, instruction] of forms.entries()) {
    expect(await originIn(`system-${index}`, 'go', instruction)).toEqual({ from: 'system' });
  }
});

test('sees nothing in what the model said', async () => {
  const contents = [
    { role: 'user', parts: [{ text: 'go' }] },
    { role: 'model', parts: [{ text }] },
    { role: 'user', parts: [{ text: 'Yes.' }] },
  ];
  expect(await originIn('model', contents)).toEqual({ from: 'model' });
});
