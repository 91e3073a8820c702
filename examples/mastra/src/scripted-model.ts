import type { MastraModelConfig } from '@mastra/core/llm';

/** Creates a model that makes these calls, one per turn, and then gives its final text. It needs no key and no network. */
export function scriptedModel(
  calls: readonly (readonly [toolName: string, input: object])[],
  text: string,
): MastraModelConfig {
  let turn = 0;
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  return {
    specificationVersion: 'v2',
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: {},
    doGenerate: async () => {
      const [toolName, input] = calls[turn] ?? [];
      turn += 1;
      return {
        content: toolName
          ? [{ type: 'tool-call', toolCallId: `call-${turn}`, toolName, input: JSON.stringify(input) }]
          : [{ type: 'text', text }],
        finishReason: toolName ? 'tool-calls' : 'stop',
        usage,
        warnings: [],
      };
    },
    doStream: () => Promise.reject(new Error('This model does not stream.')),
  };
}
