import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';

type ModelResult = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>;
type Part = ModelResult['content'][number];

type CallPart = Extract<Part, { type: 'tool-call' }>;

/** Content of the scripted model's response in a turn: calls or other parts. */
export type Turn = readonly Part[];

const usage: ModelResult['usage'] = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** Creates a call as a model does, with arguments as text. */
export function callOf(toolName: string, args: unknown, toolCallId = `call-${toolName}`): CallPart {
  return { type: 'tool-call', toolCallId, toolName, input: JSON.stringify(args) };
}

/** Creates a model that returns these turns and then says `done`; both majors accept this version of the interface. */
export function modelOf(turns: readonly Turn[]): MockLanguageModelV3 {
  let taken = 0;
  const next = (): ModelResult => {
    const turn = turns[taken];
    taken += 1;
    const calls = turn?.some(({ type }) => type === 'tool-call') ?? false;
    return {
      content: [...(turn ?? [{ type: 'text', text: 'done' }])],
      finishReason: { unified: calls ? 'tool-calls' : 'stop', raw: undefined },
      usage,
      warnings: [],
    };
  };
  return new MockLanguageModelV3({
    doGenerate: async () => next(),
    doStream: async () => ({ stream: simulateReadableStream({ chunks: chunksOf(next()) }) }),
  });
}

type Chunk =
  Awaited<ReturnType<MockLanguageModelV3['doStream']>>['stream'] extends ReadableStream<infer Value>
    ? Value
    : never;

function chunksOf({ content, finishReason }: ModelResult): Chunk[] {
  return [
    { type: 'stream-start', warnings: [] },
    ...content.flatMap((part): Chunk[] =>
      part.type === 'text'
        ? [
            { type: 'text-start', id: 't' },
            { type: 'text-delta', id: 't', delta: part.text },
            { type: 'text-end', id: 't' },
          ]
        : [part as Chunk],
    ),
    { type: 'finish', finishReason, usage },
  ];
}

/** Returns the tool results that the model received in its last turn. */
export function toolResultsOf({ doGenerateCalls, doStreamCalls }: MockLanguageModelV3) {
  const { prompt = [] } = [...doGenerateCalls, ...doStreamCalls].at(-1) ?? {};
  return prompt
    .flatMap((message) => (message.role === 'tool' ? message.content : []))
    .flatMap((part) => (part.type === 'tool-result' ? [part.output] : []))
    .map((output) => ({
      text: 'value' in output ? textOf(output.value) : '',
      isError: output.type.startsWith('error'),
    }));
}

/** Serializes a value like a provider's request. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
