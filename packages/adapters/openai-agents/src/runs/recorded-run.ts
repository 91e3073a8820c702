import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { abandonedCall } from '@actlog/recorder/adapter';
import {
  AgentsError,
  type FunctionTool,
  getCurrentTrace,
  type Runner,
  RunResult,
  RunState,
  StreamedRunResult,
} from '@openai/agents';
import { rememberAction } from '../actions.ts';
import { coverage, failure, processCoverage, unfinished } from '../agents-calls.ts';
import { outcomeOf } from '../guardrails.ts';
import { keepSession, type RunConversation, sessionOf } from '../session-id.ts';
import { type RunOutcome, UnhookedCalls } from '../unhooked-calls.ts';
import { currentPlace, currentRun, RunScope } from './run-scope.ts';

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

function nameOf({ name }: { readonly name?: unknown }): string | undefined {
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
    const agentName = nameOf(agent);
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
