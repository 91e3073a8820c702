import { Model, type ModelStreamEvent } from '@strands-agents/sdk';

/** A call that the model makes. */
export interface ScriptedCall {
  readonly name: string;
  readonly input: Record<string, unknown>;
}

/** A model that makes its calls one after the other, and then gives its final text. It needs no key and no network. */
export class ScriptedModel extends Model {
  readonly #script: Iterator<ScriptedCall>;
  readonly #finalText: string;

  constructor(calls: readonly ScriptedCall[], finalText: string) {
    super();
    this.#script = calls.values();
    this.#finalText = finalText;
  }

  override updateConfig(): void {}

  override getConfig() {
    return { modelId: 'scripted' };
  }

  override async *stream(): AsyncGenerator<ModelStreamEvent> {
    const { value: call } = this.#script.next();
    yield { type: 'modelMessageStartEvent', role: 'assistant' };
    yield* call ? toolUse(call) : text(this.#finalText);
    yield { type: 'modelContentBlockStopEvent' };
    yield { type: 'modelMessageStopEvent', stopReason: call ? 'toolUse' : 'endTurn' };
  }
}

function* toolUse({ name, input }: ScriptedCall): Generator<ModelStreamEvent> {
  const start = { type: 'toolUseStart', name, toolUseId: crypto.randomUUID() } as const;
  yield { type: 'modelContentBlockStartEvent', start };
  const delta = { type: 'toolUseInputDelta', input: JSON.stringify(input) } as const;
  yield { type: 'modelContentBlockDeltaEvent', delta };
}

function* text(words: string): Generator<ModelStreamEvent> {
  yield { type: 'modelContentBlockStartEvent' };
  yield { type: 'modelContentBlockDeltaEvent', delta: { type: 'textDelta', text: words } };
}
