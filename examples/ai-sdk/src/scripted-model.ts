import { MockLanguageModelV3 } from 'ai/test';

type ModelResult = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>;

const usage: ModelResult['usage'] = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/**
 * Creates a model that makes these calls, one per turn, and then a final response; needs no key and no
 * network.
 */
export function scriptedModel(calls: readonly (readonly [toolName: string, input: object])[], text: string) {
  let turn = 0;
  return new MockLanguageModelV3({
    doGenerate: async (): Promise<ModelResult> => {
      const call = calls[turn];
      turn += 1;
      const [toolName, input] = call ?? [];
      return {
        content: toolName
          ? [{ type: 'tool-call', toolCallId: `call-${turn}`, toolName, input: JSON.stringify(input) }]
          : [{ type: 'text', text }],
        finishReason: { unified: toolName ? 'tool-calls' : 'stop', raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
}
