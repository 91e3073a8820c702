import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';

type ModelResult = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>;
type Streamed = Awaited<ReturnType<MockLanguageModelV3['doStream']>>['stream'];
type Chunk = Streamed extends ReadableStream<infer Value> ? Value : never;

const usage: ModelResult['usage'] = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** Creates a model that calls these tools in its first turn, and then says `done`. */
export function modelCalling(names: readonly string[]): MockLanguageModelV3 {
  const calls = names.map((toolName) => ({
    type: 'tool-call' as const,
    toolCallId: `call-${toolName}`,
    toolName,
    input: '{"id":"u-1"}',
  }));
  const calling: ModelResult['finishReason'] = { unified: 'tool-calls', raw: undefined };
  const done: ModelResult['finishReason'] = { unified: 'stop', raw: undefined };
  const streams: Chunk[][] = [
    [...calls, { type: 'finish', finishReason: calling, usage }],
    [
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'done' },
      { type: 'text-end', id: 't' },
      { type: 'finish', finishReason: done, usage },
    ],
  ];
  return new MockLanguageModelV3({
    doGenerate: [
      { content: calls, finishReason: calling, usage, warnings: [] },
      { content: [{ type: 'text', text: 'done' }], finishReason: done, usage, warnings: [] },
    ],
    doStream: async () => ({ stream: simulateReadableStream({ chunks: streams.shift() ?? [] }) }),
  });
}
