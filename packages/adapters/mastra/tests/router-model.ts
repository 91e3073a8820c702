import type { MastraModelConfig } from '@mastra/core/llm';

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/** Model of a network: makes the router select a tool or an agent, and then says that the task is done. */
export class RouterModel {
  readonly specificationVersion = 'v2';
  readonly provider = 'scripted';
  readonly modelId = 'scripted';
  readonly supportedUrls = {};
  readonly #outputs: unknown[];
  /** Text of the last prompt. */
  told = '';

  /** @param args - arguments of the tool, or the prompt of the agent */
  constructor(name: string, args: Record<string, unknown> | string) {
    const primitiveType = typeof args === 'string' ? 'agent' : 'tool';
    const prompt = typeof args === 'string' ? args : JSON.stringify(args);
    this.#outputs = [{ primitiveId: name, primitiveType, prompt, selectionReason: 'asked for' }];
  }

  /** The model with the type that Mastra requires. */
  get config(): MastraModelConfig {
    return this as unknown as MastraModelConfig;
  }

  async doGenerate({ prompt }: { readonly prompt: unknown }) {
    const content = [{ type: 'text', text: this.#next(prompt) }];
    return { content, finishReason: 'stop', usage, warnings: [] };
  }

  async doStream({ prompt }: { readonly prompt: unknown }) {
    const id = 'text';
    const parts = [
      { type: 'stream-start', warnings: [] },
      { type: 'text-start', id },
      { type: 'text-delta', id, delta: this.#next(prompt) },
      { type: 'text-end', id },
      { type: 'finish', finishReason: 'stop', usage },
    ];
    return { stream: ReadableStream.from(parts) };
  }

  #next(prompt: unknown): string {
    this.told = JSON.stringify(prompt);
    const done = { isComplete: true, completionReason: 'all done', finalResult: 'done' };
    return JSON.stringify(this.#outputs.shift() ?? done);
  }
}
