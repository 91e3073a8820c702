import {
  type Content,
  type FunctionResponse,
  type GenerateContentResponse,
  GoogleGenAI,
  type LiveServerMessage,
} from '@google/genai';
import { expectTypeOf, test } from 'vitest';
import { actlog } from './index.ts';

const client = new GoogleGenAI({ apiKey: 'none' });

test('a recorded client keeps its type', async () => {
  const recorded = actlog(client, { sessionId: 'ticket-7' });
  expectTypeOf(recorded).toEqualTypeOf<GoogleGenAI>();
  const response = await recorded.models.generateContent({ model: 'm', contents: 'go' });
  expectTypeOf(response).toEqualTypeOf<GenerateContentResponse>();
});

test('nothing but clients can be recorded', () => {
  // @ts-expect-error -- models alone are no client
  actlog(client.models);
});

test('results extend the conversation without conversion', async () => {
  const runCalls = actlog.callRunner({ weather: ({ city }: { city: string }) => city });
  const contents: Content[] = [];
  const response = await client.models.generateContent({ model: 'm', contents });
  contents.push(...(await runCalls(response, { contents, systemInstruction: 'Be brief.' })));
  const live: LiveServerMessage = {} as LiveServerMessage;
  if (live.toolCall) {
    const parts = (await runCalls(live.toolCall)).flatMap((content) => content.parts);
    expectTypeOf(parts.map((part) => part.functionResponse)).toExtend<FunctionResponse[]>();
  }
});

test('options are no first argument', () => {
  // @ts-expect-error -- it has its own place for options
  actlog({ guard: { mode: 'off' } });
});
