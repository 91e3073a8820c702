import type { MastraModelConfig } from '@mastra/core/llm';

/** A tool call of the scripted model. */
export interface ModelCall {
  readonly name: string;
  readonly args: Record<string, unknown>;
  readonly id?: string;
  /** Result of the provider, if it runs the tool itself. */
  readonly providerResult?: { readonly result: unknown; readonly isError?: boolean };
}

/** Calls of the scripted model: one inner list per turn. */
export type Turns = readonly (readonly ModelCall[])[];

type Part = Record<string, unknown> & { readonly type: string };

interface Message {
  readonly role: string;
  readonly content: readonly { readonly type: string; readonly output?: ToolOutput }[];
}

interface ToolOutput {
  readonly type: string;
  readonly value: unknown;
}

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/** A model with the AI SDK's second interface version that makes these calls and then says `done`. */
export class ScriptedModel {
  readonly specificationVersion = 'v2';
  readonly provider = 'scripted';
  readonly modelId = 'scripted';
  readonly supportedUrls = {};
  readonly #turns: Turns;
  #turn = 0;
  #prompt: readonly Message[] = [];

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /** The model with the type that Mastra requires. */
  get config(): MastraModelConfig {
    return this as unknown as MastraModelConfig;
  }

  async doGenerate({ prompt }: { readonly prompt: readonly Message[] }) {
    const content = this.#next(prompt);
    return { content, finishReason: finishReasonOf(content), usage, warnings: [] };
  }

  async doStream({ prompt }: { readonly prompt: readonly Message[] }) {
    const content = this.#next(prompt);
    const parts: Part[] = [
      { type: 'stream-start', warnings: [] },
      ...content.flatMap(streamed),
      { type: 'finish', finishReason: finishReasonOf(content), usage },
    ];
    return { stream: ReadableStream.from(parts) };
  }

  /** Returns the tool results that the model received by its last turn. */
  toolResults(): { text: string; isError: boolean }[] {
    return this.#prompt
      .filter(({ role }) => role === 'tool')
      .flatMap(({ content }) => content)
      .map(({ output }) => ({
        text: typeof output?.value === 'string' ? output.value : JSON.stringify(output?.value),
        isError: output?.type.startsWith('error') ?? false,
      }));
  }

  #next(prompt: readonly Message[]): Part[] {
    this.#prompt = prompt;
    const turn = this.#turn;
    const calls = this.#turns[turn] ?? [];
    this.#turn += 1;
    if (calls.length === 0) return [{ type: 'text', text: 'done' }];
    return calls.flatMap(({ name, args, id = `${turn}-${calls.length}-${name}`, providerResult }, place) => {
      const known = {
        toolCallId: `${id}-${place}`,
        toolName: name,
        providerExecuted: providerResult !== undefined,
      };
      const call = { type: 'tool-call', ...known, input: JSON.stringify(args) };
      return providerResult ? [call, { type: 'tool-result', ...known, ...providerResult }] : [call];
    });
  }
}

function finishReasonOf(content: readonly Part[]): string {
  return content.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop';
}

function streamed(part: Part): Part[] {
  if (part.type === 'tool-call') {
    const { toolCallId: id, toolName, providerExecuted, input } = part;
    return [
      { type: 'tool-input-start', id, toolName, providerExecuted },
      { type: 'tool-input-delta', id, delta: input },
      { type: 'tool-input-end', id },
      part,
    ];
  }
  if (part.type !== 'text') return [part];
  const id = 'text';
  return [
    { type: 'text-start', id },
    { type: 'text-delta', id, delta: part.text },
    { type: 'text-end', id },
  ];
}
