import type { ModelResponse, RunItem, RunToolCallOutputItem } from '@openai/agents';
import type { ModelItem } from './ended-call.ts';
import { hostedCall } from './hosted-call.ts';
import { keptCall } from './kept-call.ts';
import type { NamedAgent, RunOfAgentTool, RunScope } from './run-scope.ts';

/** What a run's result tells, as far as the run came. */
export interface RunOutcome extends RunOfAgentTool {
  readonly newItems: readonly RunItem[];
  readonly rawResponses: readonly ModelResponse[];
  readonly interruptions?: readonly unknown[];
  readonly state: object;
  readonly lastResponseId?: string | undefined;
}

/** The calls of a run that no hook saw. They are read from the run's items when it ends. */
export class UnhookedCalls {
  readonly #run: RunScope;
  /** Responses of the model that were there before; of their calls only the open ones are still to come. */
  readonly #oldResponses: number;
  readonly #open: readonly ModelItem[];

  /** @param resumed - what there was of the run when it was resumed */
  constructor(run: RunScope, resumed: RunOutcome | undefined) {
    const answers = answersIn(resumed?.newItems ?? []);
    const calls = (resumed?.rawResponses ?? []).flatMap(({ output }) => output);
    this.#run = run;
    this.#oldResponses = resumed?.rawResponses.length ?? 0;
    this.#open = calls.filter((call) => 'callId' in call && !answers.has(idOf(call)));
  }

  /** Records them. */
  record({ newItems, rawResponses }: RunOutcome): void {
    const answers = answersIn(newItems);
    const agents = agentsIn(newItems);
    const fresh = rawResponses.slice(this.#oldResponses).flatMap(({ output }) => output);
    for (const item of [...this.#open, ...fresh]) {
      const id = idOf(item);
      const ended = hostedCall(item, fresh) ?? keptCall(item, answers.get(id), this.#run);
      const agent = agents.get(id);
      const calls = this.#run.callsOf(agent);
      if (!ended || !calls?.covers(ended.toolName)) continue;
      const { outcome, ...call } = ended;
      calls.record(this.#run.call(agent, { ...call, callId: id }), outcome);
    }
  }
}

function answersIn(items: readonly RunItem[]): ReadonlyMap<string, RunToolCallOutputItem> {
  const answers = items.filter((item) => item.type === 'tool_call_output_item');
  return new Map(answers.map((answer) => [idOf(answer.rawItem), answer]));
}

function agentsIn(items: readonly RunItem[]): ReadonlyMap<string, NamedAgent> {
  const calls = items.filter((item) => item.type === 'tool_call_item');
  return new Map(calls.map(({ rawItem, agent }) => [idOf(rawItem), agent]));
}

function idOf(item: object): string {
  const { callId, id } = item as { callId?: unknown; id?: unknown };
  return String(callId ?? id ?? '');
}
