import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';

type Answer = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>;
type Part = Answer['content'][number];

type CallPart = Extract<Part, { type: 'tool-call' }>;

/** What the scripted model does in a turn: calls, or any other content of an answer. */
export type Turn = readonly Part[];

const usage: Answer['usage'] = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A call as the model makes it: its arguments are text. */
export function callOf(toolName: string, args: unknown, toolCallId = `call-${toolName}`): CallPart {
  return { type: 'tool-call', toolCallId, toolName, input: JSON.stringify(args) };
}

/** A model that takes these turns and then says `done`; both majors take a model of this version. */
export function modelOf(turns: readonly Turn[]): MockLanguageModelV3 {
  let taken = 0;
  const next = (): Answer => {
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

function chunksOf({ content, finishReason }: Answer): Chunk[] {
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

/** What the model was told by its tools, as it read it in its last turn. */
export function toolAnswers({ doGenerateCalls, doStreamCalls }: MockLanguageModelV3) {
  const { prompt = [] } = [...doGenerateCalls, ...doStreamCalls].at(-1) ?? {};
  return prompt
    .flatMap((message) => (message.role === 'tool' ? message.content : []))
    .flatMap((part) => (part.type === 'tool-result' ? [part.output] : []))
    .map((output) => ({
      text: 'value' in output ? textOf(output.value) : '',
      isError: output.type.startsWith('error'),
    }));
}

/** As a provider puts it in the request. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
