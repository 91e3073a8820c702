import type { ToolOutcome } from '@actlog/recorder';
import { AgentsError, type Runner, RunResult, RunState, StreamedRunResult } from '@openai/agents';
import { unfinished } from './agents-calls.ts';
import { coverage } from './coverage.ts';
import { listen } from './listeners.ts';
import { currentPlace, RunScope } from './run-scope.ts';
import { keepSession, type RunConversation, sessionOf } from './session-id.ts';
import { type RunOutcome, UnhookedCalls } from './unhooked-calls.ts';

/** The options of a run that matter here. */
interface RunOptions extends Pick<RunConversation, 'session' | 'conversationId' | 'previousResponseId'> {
  readonly signal?: AbortSignal | undefined;
}

type AnyRun = (...args: unknown[]) => Promise<unknown>;

/** `Runner.run` with everything recorded that its agents do. */
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

/** What there is of a run that threw. */
function outcomeOfError(error: unknown): RunOutcome | undefined {
  return error instanceof AgentsError && error.state ? new RunResult(error.state) : undefined;
}

function cutOff(): ToolOutcome {
  return { ok: false, error: new DOMException('The run was cut off.', 'AbortError') };
}

class RecordedRun {
  readonly scope: RunScope;
  readonly #place = currentPlace();
  readonly #cancelled = new AbortController();
  readonly #unhooked: UnhookedCalls;

  constructor(runner: Runner, [agent, input, options]: [object, unknown, RunOptions | undefined]) {
    const { agents, runners, process } = coverage();
    const { groupId } = runner.config;
    const outer = this.#place?.run;
    const { signal } = this.#cancelled;
    this.scope = new RunScope({
      calls: agents.get(agent) ?? runners.get(runner) ?? outer?.callsOf(undefined) ?? process,
      sessionId: () => sessionOf({ ...options, input, groupId, outer }),
      signal: options?.signal ? AbortSignal.any([signal, options.signal]) : signal,
    });
    this.#unhooked = new UnhookedCalls(
      this.scope,
      input instanceof RunState ? new RunResult(input) : undefined,
    );
  }

  /** Waits for the end of a streamed run, which a reader that leaves early cancels. */
  follow(result: RunOutcome & { readonly completed: Promise<unknown> }): void {
    // Undocumented; without it, a call that is held waits on, but does not run either.
    const { _getAbortSignal } = result as { _getAbortSignal?: () => AbortSignal };
    const signal = _getAbortSignal?.call(result);
    const cancel = () => this.#cancelled.abort(signal?.reason);
    signal?.addEventListener('abort', cancel, { once: true });
    const finish = (hasFailed: boolean) => () => {
      // It follows the user's signal, which may outlive many runs and would keep this one.
      signal?.removeEventListener('abort', cancel);
      return this.finish(result, hasFailed);
    };
    void result.completed.then(finish(false), finish(true));
  }

  /** Ends what is still open, and records what no hook saw. Nothing here may change how the run ends. */
  async finish(outcome: RunOutcome | undefined, hasFailed: boolean): Promise<void> {
    const { signal } = this.scope;
    try {
      if (outcome?.interruptions?.length) this.#place?.run.interrupt(this.#place.callId, outcome);
      // At once where that can be: who waits for the end of a stream finds everything recorded.
      if (!this.scope.hasSession) await this.scope.sessionId();
      if (outcome) this.#unhooked.record(outcome);
      if (this.scope.hasUnderWay)
        await this.scope.endAll(hasFailed || signal.aborted ? cutOff() : unfinished);
      if (outcome) keepSession(outcome, this.scope.knownSessionId);
    } catch {
      // The SDK's items are not what they were in the versions that this adapter knows.
    }
  }
}
