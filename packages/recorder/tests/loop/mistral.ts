import { Mistral } from '@mistralai/mistralai';
import type {
  ChatCompletionRequestMessage,
  ChatCompletionResponse,
} from '@mistralai/mistralai/models/components';
import type { Provider } from './provider.ts';

export const mistral: Provider = {
  name: 'Mistral',
  body(calls, turn) {
    const tool_calls = calls.map(({ name, arguments: args }, index) => ({
      id: `${turn}-${index}`,
      function: { name, arguments: JSON.stringify(args) },
    }));
    const isCalling = calls.length > 0;
    const message = { role: 'assistant', content: isCalling ? '' : 'done', ...(isCalling && { tool_calls }) };
    return {
      id: 'r',
      object: 'chat.completion',
      model: 'scripted',
      created: 1,
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      choices: [{ index: 0, message, finish_reason: isCalling ? 'tool_calls' : 'stop' }],
    };
  },
  start(url, userText, systemText) {
    const client = new Mistral({ apiKey: 'none', serverURL: url });
    const messages: ChatCompletionRequestMessage[] = [
      ...(systemText === undefined ? [] : [{ role: 'system' as const, content: systemText }]),
      { role: 'user', content: userText },
    ];
    let response: ChatCompletionResponse;
    const message = () => ({ ...response.choices[0]?.message, role: 'assistant' as const });
    return {
      messages,
      async next() {
        response = await client.chat.complete({ model: 'scripted', messages });
        const calls = (message().toolCalls ?? []).map(({ id = '', function: call }) => ({
          id,
          name: call.name,
          arguments: JSON.parse(String(call.arguments)) as Record<string, unknown>,
        }));
        return { calls, text: String(message().content) };
      },
      async runWith(runCalls, options) {
        const results = await runCalls(response, { ...options, messages });
        messages.push(message(), ...results);
        return results.length;
      },
      append(results) {
        messages.push(message());
        for (const { id, name, text } of results) {
          messages.push({ role: 'tool', toolCallId: id, name, content: text });
        }
      },
      close() {},
    };
  },
  resultsIn: (body) =>
    (body as { messages: readonly { role: string; content: string }[] }).messages
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => ({ text: content, isError: content.startsWith('Error') })),
};
