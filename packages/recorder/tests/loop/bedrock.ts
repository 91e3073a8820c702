import { BedrockRuntimeClient, ConverseCommand, type Message } from '@aws-sdk/client-bedrock-runtime';
import type { Provider } from './provider.ts';

export const bedrock: Provider = {
  name: 'Bedrock Converse',
  isHttp2: true,
  body(calls, turn) {
    const uses = calls.map(({ name, arguments: input }, index) => ({
      toolUse: { toolUseId: `${turn}-${index}`, name, input },
    }));
    const isCalling = calls.length > 0;
    return {
      output: { message: { role: 'assistant', content: isCalling ? uses : [{ text: 'done' }] } },
      stopReason: isCalling ? 'tool_use' : 'end_turn',
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      metrics: { latencyMs: 1 },
    };
  },
  start(url, userText, systemText) {
    const client = new BedrockRuntimeClient({
      region: 'eu-west-1',
      endpoint: url,
      credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
    });
    const messages: Message[] = [{ role: 'user', content: [{ text: userText }] }];
    const system = systemText === undefined ? [] : [{ text: systemText }];
    let message: Message;
    return {
      messages,
      system,
      async next() {
        const { output } = await client.send(new ConverseCommand({ modelId: 'scripted', messages, system }));
        message = output?.message as Message;
        const content = message.content ?? [];
        const calls = content.flatMap(({ toolUse }) =>
          toolUse
            ? [
                {
                  id: String(toolUse.toolUseId),
                  name: String(toolUse.name),
                  arguments: toolUse.input as Record<string, unknown>,
                },
              ]
            : [],
        );
        return { calls, text: content.map(({ text = '' }) => text).join('') };
      },
      async runWith(runCalls, options) {
        const results = await runCalls(message, { ...options, messages, system });
        messages.push(message, ...results);
        return results.length;
      },
      append(results) {
        const content = results.map(({ id, text, isError }) => ({
          toolResult: {
            toolUseId: id,
            content: [{ text }],
            status: isError ? ('error' as const) : ('success' as const),
          },
        }));
        messages.push(message, { role: 'user', content });
      },
      close: () => client.destroy(),
    };
  },
  resultsIn: (body) =>
    (body as { messages: readonly Message[] }).messages
      .flatMap(({ content = [] }) => content)
      .flatMap(({ toolResult }) =>
        toolResult
          ? [{ text: String(toolResult.content?.[0]?.text), isError: toolResult.status === 'error' }]
          : [],
      ),
};
