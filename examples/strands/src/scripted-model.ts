import { Model, type ModelStreamEvent } from '@strands-agents/sdk';

/** A call that the model makes. */
export interface ScriptedCall {
  readonly name: string;
  readonly input: Record<string, unknown>;
}

/** A model that makes these calls, one per turn, and then gives its final text. It needs no key and no network. */
export class ScriptedModel extends Model {
  readonly #calls: readonly ScriptedCall[];
  readonly #answer: string;
  #turn = 0;

  constructor(calls: readonly ScriptedCall[], answer: string) {
    super();
    this.#calls = calls;
    this.#answer = answer;
  }

  override updateConfig(): void {}

  override getConfig() {
    return { modelId: 'scripted' };
  }

  override async *stream(): AsyncGenerator<ModelStreamEvent> {
    const call = this.#calls[this.#turn];
    this.#turn += 1;
    yield { type: 'modelMessageStartEvent', role: 'assistant' };
    if (call) {
      const start = { type: 'toolUseStart', name: call.name, toolUseId: `call-${this.#turn}` } as const;
      yield { type: 'modelContentBlockStartEvent', start };
      const delta = { type: 'toolUseInputDelta', input: JSON.stringify(call.input) } as const;
      yield { type: 'modelContentBlockDeltaEvent', delta };
    } else {
      yield { type: 'modelContentBlockStartEvent' };
      yield { type: 'modelContentBlockDeltaEvent', delta: { type: 'textDelta', text: this.#answer } };
    }
    yield { type: 'modelContentBlockStopEvent' };
    yield { type: 'modelMessageStopEvent', stopReason: call ? 'toolUse' : 'endTurn' };
  }
}
