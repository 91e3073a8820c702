import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import type { ModelResponse, RunItem, RunToolCallOutputItem } from '@openai/agents';
import { failure } from './agents-calls.ts';
import { hasThrown, isJson, nameOf, parsed } from './guardrails.ts';
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

/** Items that look like a call of a hosted tool but are not. */
const nonCalls = ['mcp_list_tools', 'mcp_approval_request'];

/** Fields of a call with its outcome rather than its arguments. */
const outcomeFields = [
  'id',
  'type',
  'status',
  'output',
  'outputs',
  'results',
  'error',
  'name',
  'server_label',
];

/**
 * Reconstructs a call run by the model's provider from the model's output: web search, file search, code interpreter,
 * image generation, hosted MCP servers and shells, programs. Returns undefined for other items.
 *
 * @param output - all items of the model's output, which include the output of hosted shells and programs
 */
function hostedCall(item: ModelItem, output: readonly ModelItem[]): EndedCall | undefined {
  if (item.type === 'hosted_tool_call') return builtIn(item);
  if (item.type !== 'shell_call' && item.type !== 'program') return undefined;
  const hasOutput = output.some(
    (other) =>
      (other.type === 'shell_call_output' || other.type === 'program_output') && other.callId === item.callId,
  );
  if (!hasOutput) return undefined;
  const args = item.type === 'shell_call' ? item.action : { code: item.code };
  return { toolName: item.type.replace('_call', ''), arguments: args, outcome: { ok: true, result: item } };
}

function builtIn(item: Extract<ModelItem, { type: 'hosted_tool_call' }>): EndedCall | undefined {
  const data = item.providerData ?? {};
  if (nonCalls.includes(item.name) || nonCalls.includes(String(data.type))) return undefined;
  const isMcp = data.type === 'mcp_call' && typeof data.name === 'string';
  const hasFailed = Boolean(data.error) || item.status === 'failed' || item.status === 'incomplete';
  return {
    toolName: isMcp ? data.name : item.name.replace(/_call$/, ''),
    arguments: argumentsFrom(item.arguments ?? data.arguments, data),
    outcome: hasFailed
      ? failure(responseStatuses.threw, `The hosted tool ${item.name} failed.`)
      : { ok: true, result: item.output },
  };
}

function argumentsFrom(args: unknown, data: Record<string, unknown>): unknown {
  if (typeof args === 'string') return parsed(args);
  return Object.fromEntries(Object.entries(data).filter(([field]) => !outcomeFields.includes(field)));
}

/**
 * Reconstructs a call that ended without a hook: rejected by a person or by a user's guardrail, of an unknown tool, or
 * with invalid arguments; and calls for which the SDK has no hooks. Returns undefined for other items, and if there is
 * no output yet.
 */
function keptCall(
  item: ModelItem,
  output: RunToolCallOutputItem | undefined,
  run: RunScope,
): EndedCall | undefined {
  if (!output || ('callId' in item && run.seen.has(String(item.callId)))) return undefined;
  switch (item.type) {
    case 'function_call':
      return {
        toolName: nameOf(item),
        arguments: parsed(item.arguments),
        outcome: outcomeOfFunction(item, output, run),
      };
    case 'computer_call':
      return {
        toolName: 'computer',
        arguments: item.actions ?? item.action,
        outcome: outcomeOfComputer(output),
      };
    case 'shell_call':
      return {
        toolName: nameOfAction(output, 'shell'),
        arguments: item.action,
        outcome: rejectedOrInterrupted(output),
      };
    case 'apply_patch_call':
      return {
        toolName: nameOfAction(output, 'apply_patch'),
        arguments: item.operation,
        outcome: rejectedOrInterrupted(output),
      };
    default:
      return undefined;
  }
}

/** Returns the name of the tool for commands or patches, which the user may have chosen. */
function nameOfAction({ agent }: RunToolCallOutputItem, type: 'shell' | 'apply_patch'): string {
  return agent.tools.find((tool) => tool.type === type)?.name ?? type;
}

function outcomeOfFunction(
  call: Extract<ModelItem, { type: 'function_call' }>,
  output: RunToolCallOutputItem,
  run: RunScope,
): ToolOutcome {
  if (run.invalid.has(call.callId) || !isJson(call.arguments)) {
    return failure(responseStatuses.invalidArguments, 'The arguments do not fit the tool.');
  }
  if (output.executionStatus === 'executed') {
    return hasThrown(String(output.output))
      ? failure(responseStatuses.threw, String(output.output))
      : { ok: true, result: output.output };
  }
  if (!run.toolNames.has(call.name)) return failure(responseStatuses.unknownTool, 'Unknown tool.');
  return rejectedOrInterrupted(output);
}

function outcomeOfComputer(item: RunToolCallOutputItem): ToolOutcome {
  const { output, providerData } = item.rawItem as {
    output: { data?: unknown; providerData?: Record<string, unknown> };
    providerData?: Record<string, unknown>;
  };
  if (output.providerData?.approvalStatus === 'rejected') return rejectedOrInterrupted(item);
  if (providerData?.status === 'incomplete') {
    return failure(responseStatuses.aborted, 'The action was interrupted.');
  }
  return output.data === ''
    ? failure(responseStatuses.threw, 'There is no screenshot.')
    : { ok: true, result: output };
}

function rejectedOrInterrupted({ rawItem }: RunToolCallOutputItem): ToolOutcome {
  const { status } = rawItem as { status?: unknown };
  return status === 'incomplete'
    ? failure(responseStatuses.aborted, 'The call was interrupted.')
    : failure(responseStatuses.denied, 'The call was not allowed to run.');
}

/** An item of the model's output. */
type ModelItem = ModelResponse['output'][number];

/** A call reconstructed from the items of a run. */
interface EndedCall {
  readonly toolName: string;
  readonly arguments: unknown;
  readonly outcome: ToolOutcome;
}
