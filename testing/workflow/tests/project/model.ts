import { WORKFLOW_DESERIALIZE, WORKFLOW_SERIALIZE } from '@ai-sdk/provider-utils';
import { simulateReadableStream } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';

type Streamed = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'];
type Chunk = Streamed extends ReadableStream<infer Value> ? Value : never;

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** Calls of a model, by turn: names of tools. */
export type Turns = readonly (readonly string[])[];

/** A model that calls tools in its first turns, and then says the results that it has read. It travels between steps. */
export class ScriptedModel extends MockLanguageModelV4 {
  static [WORKFLOW_SERIALIZE]({ turns }: ScriptedModel): { turns: Turns } {
    return { turns };
  }

  static [WORKFLOW_DESERIALIZE]({ turns }: { turns: Turns }): ScriptedModel {
    return new ScriptedModel(turns);
  }

  readonly turns: Turns;

  constructor(turns: Turns) {
    super({
      doStream: async ({ prompt }) => {
        const turn = prompt.filter(({ role }) => role === 'assistant').length;
        const calls = (turns[turn] ?? []).map((toolName) => ({
          type: 'tool-call' as const,
          toolCallId: `call-${turn}-${toolName}`,
          toolName,
          input: '{"id":"u-1"}',
        }));
        const results = prompt.filter(({ role }) => role === 'tool').map(({ content }) => content);
        const chunks: Chunk[] =
          calls.length > 0
            ? [...calls, { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage }]
            : [
                { type: 'text-start', id: 't' },
                { type: 'text-delta', id: 't', delta: JSON.stringify(results) },
                { type: 'text-end', id: 't' },
                { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage },
              ];
        return { stream: simulateReadableStream({ chunks }) };
      },
    });
    this.turns = turns;
  }
}
