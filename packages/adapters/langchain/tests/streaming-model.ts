import { randomUUID } from 'node:crypto';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk } from '@langchain/core/messages';
import { type ChatGeneration, ChatGenerationChunk } from '@langchain/core/outputs';
import type { Turns } from './agent.ts';

/**
 * A scripted model that streams its calls in parts, with ids as providers create them. It makes the calls of each turn,
 * and says `done` after each.
 */
export class StreamingModel extends BaseChatModel {
  readonly #turns: (Turns[number] | undefined)[];

  constructor(turns: Turns) {
    super({});
    this.#turns = turns.flatMap((calls) => [calls, undefined]);
  }

  override _llmType(): string {
    return 'scripted';
  }

  override bindTools(): this {
    return this;
  }

  #next() {
    const calls = this.#turns.shift() ?? [];
    return calls.map((call) => ({ id: `call_${randomUUID().replaceAll('-', '')}`, ...call }));
  }

  override async _generate(): Promise<{ generations: ChatGeneration[] }> {
    const tool_calls = this.#next().map((call) => ({ ...call, type: 'tool_call' as const }));
    const text = tool_calls.length > 0 ? '' : 'done';
    return { generations: [{ text, message: new AIMessage({ content: text, tool_calls }) }] };
  }

  override async *_streamResponseChunks(): AsyncGenerator<ChatGenerationChunk> {
    const calls = this.#next();
    if (calls.length === 0) yield chunkOf({ content: 'done' });
    for (const [index, { id, name, args }] of calls.entries()) {
      const text = JSON.stringify(args);
      const parts = [{ id, name }, { args: text.slice(0, 5) }, { args: text.slice(5) }];
      for (const part of parts) {
        const tool_call_chunks = [{ ...part, index, type: 'tool_call_chunk' as const }];
        yield chunkOf({ content: '', tool_call_chunks });
      }
    }
  }
}

function chunkOf(fields: ConstructorParameters<typeof AIMessageChunk>[0]): ChatGenerationChunk {
  return new ChatGenerationChunk({ text: '', message: new AIMessageChunk(fields) });
}
