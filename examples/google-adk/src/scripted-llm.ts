import { BaseLlm, type LlmResponse } from '@google/adk';

/** A call of the scripted model. */
export interface ScriptedCall {
  readonly name: string;
  readonly args: Record<string, unknown>;
}

/** A model that makes these calls, one per turn, and then gives its final text. It needs no key and no network. */
export class ScriptedLlm extends BaseLlm {
  readonly #calls: readonly ScriptedCall[];
  readonly #finalText: string;
  #turn = 0;

  constructor(calls: readonly ScriptedCall[], finalText: string) {
    super({ model: 'scripted' });
    this.#calls = calls;
    this.#finalText = finalText;
  }

  override async *generateContentAsync(): AsyncGenerator<LlmResponse, void> {
    const functionCall = this.#calls[this.#turn];
    this.#turn += 1;
    yield {
      content: { role: 'model', parts: [functionCall ? { functionCall } : { text: this.#finalText }] },
    };
  }

  override connect(): never {
    throw new Error('The scripted model has no live connection.');
  }
}
