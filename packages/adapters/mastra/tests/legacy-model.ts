import type { MastraModelConfig } from '@mastra/core/llm';

/**
 * Creates a model with the first interface version that calls this tool with each of these arguments and then says
 * `done`.
 */
export function legacyModelOf(toolName: string, args: readonly object[]): MastraModelConfig {
  let turn = 0;
  const model = {
    specificationVersion: 'v1',
    provider: 'scripted',
    modelId: 'scripted',
    defaultObjectGenerationMode: undefined,
    async doGenerate() {
      const given = args[turn];
      turn += 1;
      const call = {
        toolCallType: 'function',
        toolCallId: `call-${turn}`,
        toolName,
        args: JSON.stringify(given),
      };
      return {
        ...(given ? { toolCalls: [call] } : { text: 'done' }),
        finishReason: given ? 'tool-calls' : 'stop',
        usage: { promptTokens: 1, completionTokens: 1 },
        rawCall: { rawPrompt: null, rawSettings: {} },
      };
    },
  };
  return model as unknown as MastraModelConfig;
}
