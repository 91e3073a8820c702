import type { ModelResponse, RunItem, RunToolCallOutputItem } from '@openai/agents';
import type { ModelItem } from './ended-call.ts';
import { hostedCall } from './hosted-call.ts';
import { keptCall } from './kept-call.ts';
import type { NamedAgent, RunOfAgentTool, RunScope } from './runs/run-scope.ts';

/** Result of a run, possibly partial. */
export interface RunOutcome extends RunOfAgentTool {
  readonly newItems: readonly RunItem[];
  readonly rawResponses: readonly ModelResponse[];
  readonly interruptions?: readonly unknown[];
  readonly state: object;
  readonly history?: readonly unknown[];
  readonly lastResponseId?: string | undefined;
}

/** Calls of a run without a hook, reconstructed from the run's items when it ends. */
export class UnhookedCalls {
  readonly #run: RunScope;
  /** Number of earlier model responses; only their open calls are still to be recorded. */
  readonly #oldResponses: number;
  readonly #open: readonly ModelItem[];

  /** @param resumed - earlier result, if the run is resumed */
  constructor(run: RunScope, resumed: RunOutcome | undefined) {
    const outputs = outputsIn(resumed?.newItems ?? []);
    const calls = (resumed?.rawResponses ?? []).flatMap(({ output }) => output);
    this.#run = run;
    this.#oldResponses = resumed?.rawResponses.length ?? 0;
    this.#open = calls.filter((call) => 'callId' in call && !outputs.has(idOf(call)));
    // A rejection may end the run before the SDK lists the agent's tools.
    for (const { rawItem } of (resumed?.interruptions ?? []) as readonly { rawItem?: { name?: unknown } }[])
      run.toolNames.add(String(rawItem?.name));
  }

  /** Records the calls. */
  record({ newItems, rawResponses }: RunOutcome): void {
    const outputs = outputsIn(newItems);
    const agents = agentsIn(newItems);
    const fresh = rawResponses.slice(this.#oldResponses).flatMap(({ output }) => output);
    for (const item of [...this.#open, ...fresh]) {
      const id = idOf(item);
      // A handoff may remove all other calls from the history.
      if (item.type === 'function_call') this.#run.recognizeBy({ toolName: item.name, callId: id });
      const ended = hostedCall(item, fresh) ?? keptCall(item, outputs.get(id), this.#run);
      const agent = agents.get(id);
      const calls = this.#run.callsOf(agent);
      if (!ended || !calls?.covers(ended.toolName)) continue;
      const { outcome, ...call } = ended;
      calls.record(this.#run.call(agent, { ...call, callId: id }), outcome);
    }
  }
}

function outputsIn(items: readonly RunItem[]): ReadonlyMap<string, RunToolCallOutputItem> {
  const outputs = items.filter((item) => item.type === 'tool_call_output_item');
  return new Map(outputs.map((output) => [idOf(output.rawItem), output]));
}

function agentsIn(items: readonly RunItem[]): ReadonlyMap<string, NamedAgent> {
  const calls = items.filter((item) => item.type === 'tool_call_item');
  return new Map(calls.map(({ rawItem, agent }) => [idOf(rawItem), agent]));
}

function idOf(item: object): string {
  const { callId, id } = item as { callId?: unknown; id?: unknown };
  return String(callId ?? id ?? '');
}
