import { type Agent, type Message, Model, type ModelStreamEvent, tool } from '@strands-agents/sdk';
import * as z from 'zod';

/** Calls of the scripted model: one inner list per turn. */
export type Turns = readonly (readonly { name: string; args: Record<string, unknown>; id?: string }[])[];

/** Creates a model that makes these calls and then says `done`. */
export function modelOf(turns: Turns): Model {
  return new ScriptedModel(turns);
}

class ScriptedModel extends Model {
  readonly #turns: Turns;
  #turn = 0;

  constructor(turns: Turns) {
    super();
    this.#turns = turns;
  }

  override updateConfig(): void {}

  override getConfig() {
    return { modelId: 'scripted' };
  }

  override async *stream(): AsyncGenerator<ModelStreamEvent> {
    const turn = this.#turn;
    const calls = this.#turns[turn] ?? [];
    this.#turn += 1;
    yield { type: 'modelMessageStartEvent', role: 'assistant' };
    for (const [place, { name, args, id = `${turn}-${place}` }] of calls.entries()) {
      yield { type: 'modelContentBlockStartEvent', start: { type: 'toolUseStart', name, toolUseId: id } };
      const input = JSON.stringify(args);
      yield { type: 'modelContentBlockDeltaEvent', delta: { type: 'toolUseInputDelta', input } };
      yield { type: 'modelContentBlockStopEvent' };
    }
    if (calls.length === 0) {
      yield { type: 'modelContentBlockStartEvent' };
      yield { type: 'modelContentBlockDeltaEvent', delta: { type: 'textDelta', text: 'done' } };
      yield { type: 'modelContentBlockStopEvent' };
    }
    yield { type: 'modelMessageStopEvent', stopReason: calls.length > 0 ? 'toolUse' : 'endTurn' };
  }
}

/** Creates tools that note when they run: `echo` returns its text, `fail` throws. */
export function tools() {
  const ran: string[] = [];
  const echo = tool({
    name: 'echo',
    description: 'Says it again.',
    inputSchema: z.object({ text: z.string() }),
    callback: ({ text }) => {
      ran.push(`echo ${text}`);
      return `echo: ${text}`;
    },
  });
  const fail = tool({
    name: 'fail',
    description: 'Breaks.',
    inputSchema: z.object({}),
    callback: (): string => {
      ran.push('fail');
      throw Object.assign(new Error('it broke'), { status: 502 });
    },
  });
  return { ran, echo, fail };
}

/** Returns the tool results that the model received. */
export function toolResultsOf({ messages }: Pick<Agent, 'messages'>) {
  return messages
    .flatMap(({ content }) => content)
    .filter((block) => block.type === 'toolResultBlock')
    .map(({ content, status }) => ({ text: content.map(textOf).join(''), isError: status === 'error' }));
}

/** Returns the text of a message. */
export function wordsOf(message: Message | undefined): string {
  return (message?.content ?? []).map(textOf).join('');
}

function textOf(block: { readonly type: string; readonly text?: unknown }): string {
  return block.type === 'textBlock' ? String(block.text) : '';
}
