import { BedrockRuntimeClient, ConverseCommand, type Message } from '@aws-sdk/client-bedrock-runtime';
import { Mistral } from '@mistralai/mistralai';
import type { ChatCompletionRequestMessage } from '@mistralai/mistralai/models/components';
import { Ollama, type Message as OllamaMessage } from 'ollama';
import { expectTypeOf, test } from 'vitest';
import { actlog, type CallResult, type ChatToolMessage } from './index.ts';

const runCalls = actlog({ get_weather: ({ city }: { city: string }) => city });

test('results are what Bedrock takes', async () => {
  const client = new BedrockRuntimeClient({});
  const messages: Message[] = [];
  const response = await client.send(new ConverseCommand({ modelId: 'm', messages }));
  messages.push(...(await runCalls(response, { messages })));
  const message = response.output?.message;
  if (message) messages.push(message, ...(await runCalls(message, { messages })));
});

test('results are what Mistral takes', async () => {
  const client = new Mistral({});
  const messages: ChatCompletionRequestMessage[] = [];
  const response = await client.chat.complete({ model: 'm', messages });
  messages.push(...(await runCalls(response, { messages })));
  for (const choice of response.choices) messages.push(...(await runCalls(choice, { messages })));
});

test('results are what Ollama takes', async () => {
  const client = new Ollama();
  const messages: OllamaMessage[] = [];
  const response = await client.chat({ model: 'm', messages });
  messages.push(...(await runCalls(response, { messages })), ...(await runCalls(response.message)));
});

test('results of other outputs have their own types', () => {
  const message = { tool_calls: [{ id: 'c1', function: { name: 'a', arguments: '{}' } }] };
  expectTypeOf(runCalls(message)).resolves.toEqualTypeOf<ChatToolMessage[]>();
  expectTypeOf(runCalls({ choices: [{ message }] })).resolves.toEqualTypeOf<ChatToolMessage[]>();
  expectTypeOf(runCalls([{ name: 'a', arguments: '{}' }])).resolves.toEqualTypeOf<CallResult[]>();
});

test('only outputs have calls', () => {
  // @ts-expect-error -- a text has no calls
  void runCalls('text');
});
