import { type Message, Ollama } from 'ollama';
import type { Provider } from './provider.ts';

export const ollama: Provider = {
  name: 'Ollama',
  body: (calls) => ({
    model: 'scripted',
    done: true,
    done_reason: 'stop',
    message:
      calls.length > 0
        ? { role: 'assistant', content: '', tool_calls: calls.map((call) => ({ function: call })) }
        : { role: 'assistant', content: 'done' },
  }),
  start(url, userText, systemText) {
    const client = new Ollama({ host: url });
    const messages: Message[] = [
      ...(systemText === undefined ? [] : [{ role: 'system', content: systemText }]),
      { role: 'user', content: userText },
    ];
    let message: Message;
    return {
      messages,
      async next() {
        message = (await client.chat({ model: 'scripted', messages })).message;
        const calls = (message.tool_calls ?? []).map(({ function: call }, index) => ({
          ...call,
          id: `${index}`,
        }));
        return { calls, text: message.content };
      },
      async runWith(runCalls, options) {
        const results = await runCalls(message, { ...options, messages });
        messages.push(message, ...results);
        return results.length;
      },
      append(results) {
        messages.push(message);
        for (const { name, text } of results) messages.push({ role: 'tool', tool_name: name, content: text });
      },
      close() {},
    };
  },
  resultsIn: (body) =>
    (body as { messages: readonly Message[] }).messages
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => ({ text: content, isError: content.startsWith('Error') })),
};
