import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { abandonedCall, shellStatus } from '@actlog/recorder/adapter';
import {
  AgentsError,
  type FunctionTool,
  getCurrentTrace,
  type ModelResponse,
  type RunItem,
  type Runner,
  RunResult,
  RunState,
  type RunToolCallOutputItem,
  StreamedRunResult,
} from '@openai/agents';
import { rememberAction } from '../actions.ts';
import { coverage, failure, processCoverage, unfinished } from '../agents-calls.ts';
import { hasThrown, isJson, nameOf, outcomeOf, parsed } from '../guardrails.ts';
import { keepSession, type RunConversation, sessionOf } from '../session-id.ts';
import { currentPlace, currentRun, type NamedAgent, type RunOfAgentTool, RunScope } from './run-scope.ts';

/** Relevant options of a run. */
interface RunOptions extends Pick<RunConversation, 'session' | 'conversationId' | 'previousResponseId'> {
  readonly signal?: AbortSignal | undefined;
}

type AnyRun = (...args: unknown[]) => Promise<unknown>;

/** Runs `Runner.run` and records all calls of its agents. */
export async function recordedRun(runner: Runner, run: AnyRun, args: unknown[]): Promise<unknown> {
  const recorded = new RecordedRun(runner, args as [object, unknown, RunOptions | undefined]);
  listen(runner);
  let result: unknown;
  try {
    result = await recorded.scope.within(() => run.apply(runner, args));
  } catch (error) {
    await recorded.finish(outcomeOfError(error), true);
    throw error;
  }
  if (result instanceof StreamedRunResult) recorded.follow(result);
  else await recorded.finish(result as RunOutcome, false);
  return result;
}

function agentNameOf({ name }: { readonly name?: unknown }): string | undefined {
  return typeof name === 'string' ? name : undefined;
}

/** Returns the partial result of a run that threw. */
function outcomeOfError(error: unknown): RunOutcome | undefined {
  return error instanceof AgentsError && error.state ? new RunResult(error.state) : undefined;
}

function cutOff(): ToolOutcome {
  return { ok: false, error: abandonedCall('The run was cut off.') };
}

class RecordedRun {
  readonly scope: RunScope;
  readonly #place = currentPlace();
  readonly #cancelled = new AbortController();
  readonly #unhooked: UnhookedCalls;

  constructor(runner: Runner, [agent, input, options]: [object, unknown, RunOptions | undefined]) {
    const { agents, reached, runners } = coverage();
    const { groupId } = runner.config;
    const outer = this.#place?.run;
    const { signal } = this.#cancelled;
    const own = agents.get(agent);
    const ofRunner = runners.get(runner) ?? outer?.callsOf(undefined);
    const reachedBy = ofRunner ? undefined : reached.get(agent);
    const calls = own ?? ofRunner ?? reachedBy ?? processCoverage.current;
    const workflow = getCurrentTrace(); // read here, because without a trace the run creates one
    const agentName = agentNameOf(agent);
    this.scope = new RunScope({
      calls,
      coveredByAgent: own ?? reachedBy ?? (runners.has(runner) ? undefined : outer?.coveredByAgent),
      sessionId: () => sessionOf({ ...options, input, groupId, workflow, agentName, calls, outer }),
      input,
      signal: options?.signal ? AbortSignal.any([signal, options.signal]) : signal,
    });
    this.#unhooked = new UnhookedCalls(
      this.scope,
      input instanceof RunState ? new RunResult(input) : undefined,
    );
  }

  /** Waits for the end of a streamed run, which is canceled if its reader stops early. */
  follow(result: RunOutcome & { readonly completed: Promise<unknown> }): void {
    // Undocumented; without it, a held call keeps waiting, but does not run either.
    const { _getAbortSignal } = result as { _getAbortSignal?: () => AbortSignal };
    const signal = _getAbortSignal?.call(result);
    const cancel = () => this.#cancelled.abort(signal?.reason);
    signal?.addEventListener('abort', cancel, { once: true });
    const finish = (hasFailed: boolean) => () => {
      // The signal follows the user's signal, which may outlive many runs and would retain this one.
      signal?.removeEventListener('abort', cancel);
      return this.finish(result, hasFailed);
    };
    void result.completed.then(finish(false), finish(true));
  }

  /** Ends open calls, and records those without a hook. Errors here must not change how the run ends. */
  async finish(outcome: RunOutcome | undefined, hasFailed: boolean): Promise<void> {
    const { signal } = this.scope;
    try {
      if (outcome?.interruptions?.length) this.#place?.run.interrupt(this.#place.callId, outcome);
      // Synchronously if possible, so that everything is recorded when the end of the stream is awaited.
      if (!this.scope.hasSession) await this.scope.sessionId();
      if (outcome) this.#unhooked.record(outcome);
      if (this.scope.hasUnderWay)
        await this.scope.endAll(hasFailed || signal.aborted ? cutOff() : unfinished);
      if (outcome) keepSession(outcome, this.scope.knownSessionId);
      this.scope.recognizeByHistory(outcome?.history);
    } catch {
      // The SDK's items differ from the supported versions.
    }
  }
}

const listening = new WeakSet<object>();

/** Listens to tool starts and ends of a runner; the SDK calls its listeners synchronously. */
function listen(runner: Runner): void {
  if (listening.has(runner)) return;
  listening.add(runner);
  runner.on('agent_start', (_context, agent) => currentRun()?.reach(agent));
  runner.on('agent_handoff', (_context, _from, to) => currentRun()?.reach(to));
  runner.on('agent_tool_start', (_context, agent, _tool, { toolCall }) => {
    const run = currentRun();
    if (!run) return;
    if (toolCall.type === 'function_call') run.enter(toolCall.callId);
    if (toolCall.type !== 'shell_call' && toolCall.type !== 'apply_patch_call') return;
    const { callId } = toolCall;
    run.seen.add(callId);
    rememberAction(toolCall.type === 'shell_call' ? toolCall.action : toolCall.operation, { agent, callId });
  });
  runner.on('agent_tool_end', (_context, _agent, tool, output, { toolCall }) => {
    const run = currentRun();
    if (!run || toolCall.type !== 'function_call') return;
    const { callId } = toolCall;
    // The output guardrail handles successful calls; the remaining ones threw or were interrupted.
    if (!run.isUnderWay(callId)) return;
    const outcome = outcomeOf(run, tool as unknown as FunctionTool, callId, output);
    const status = output === 'aborted' ? responseStatuses.aborted : responseStatuses.threw;
    void run.end(callId, outcome.ok ? failure(status, output) : outcome);
  });
}

/** Result of a run, possibly partial. */
interface RunOutcome extends RunOfAgentTool {
  readonly newItems: readonly RunItem[];
  readonly rawResponses: readonly ModelResponse[];
  readonly interruptions?: readonly unknown[];
  readonly state: object;
  readonly history?: readonly unknown[];
  readonly lastResponseId?: string | undefined;
}

/** Calls of a run without a hook, reconstructed from the run's items when it ends. */
class UnhookedCalls {
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
const outcomeFields = 'id type status output outputs results error name server_label'.split(' ');

/**
 * Reconstructs a call run by the model's provider from the model's output: web search, file search, code interpreter,
 * image generation, hosted MCP servers and shells, programs. Returns undefined for other items.
 *
 * @param output - all items of the model's output, which include the output of hosted shells and programs
 */
function hostedCall(item: ModelItem, output: readonly ModelItem[]): EndedCall | undefined {
  if (item.type === 'hosted_tool_call') return builtIn(item);
  if (item.type !== 'shell_call' && item.type !== 'program') return undefined;
  const ended = output.find(
    (other) =>
      (other.type === 'shell_call_output' || other.type === 'program_output') && other.callId === item.callId,
  );
  if (!ended) return undefined;
  const args = item.type === 'shell_call' ? item.action : { code: item.code };
  const status = shellStatus((ended as { readonly output?: unknown }).output);
  const outcome = status ? failure(status, 'The command failed.') : ({ ok: true, result: item } as const);
  return { toolName: item.type.replace('_call', ''), arguments: args, outcome };
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
    case 'apply_patch_call':
      return {
        toolName: nameOfAction(output, item.type === 'shell_call' ? 'shell' : 'apply_patch'),
        arguments: item.type === 'shell_call' ? item.action : item.operation,
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
