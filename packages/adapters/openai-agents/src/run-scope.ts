import { AsyncLocalStorage } from 'node:async_hooks';
import type { ToolOutcome } from '@actlog/recorder';
import { type AdapterCalls, type BegunCall, type HookedCall, processWide } from '@actlog/recorder/adapter';
import { unfinished } from './agents-calls.ts';
import { coverage } from './coverage.ts';

/** What is to know of an agent. */
export interface NamedAgent {
  readonly name: string;
}

/** A run that is under way, and the call in it within which code runs. */
interface Place {
  readonly run: RunScope;
  readonly callId?: string;
}

const places = processWide('@actlog/openai-agents/run', () => new AsyncLocalStorage<Place>());

/** The run that this code belongs to, and the call within which it runs. */
export function currentPlace(): Place | undefined {
  return places().getStore();
}

/** The run that this code belongs to. */
export function currentRun(): RunScope | undefined {
  return places().getStore()?.run;
}

/** A run, as far as it tells which call of an agent tool it was for. */
export interface RunOfAgentTool {
  readonly agentToolInvocation?: { readonly toolCallId?: string } | undefined;
}

/** What a run is made with. */
export interface RunScopeOptions {
  /** Records the calls of agents that have nothing of their own. */
  readonly calls: AdapterCalls | undefined;
  /** The session of the run's calls, asked when the first one comes. */
  readonly sessionId: () => Promise<string | undefined>;
  /** Ends the run early. */
  readonly signal: AbortSignal;
}

/** One `Runner.run`, from its start to its end. */
export class RunScope {
  readonly signal: AbortSignal;
  /** Names of the tools that the run's agents have. */
  readonly toolNames = new Set<string>();
  /** Calls that a hook recorded, or that nobody is to record. */
  readonly seen = new Set<string>();
  /** Calls whose arguments the SDK took away, as they do not fit the tool. */
  readonly invalid = new Set<string>();
  /** Calls that ran out of their tool's `timeoutMs`. */
  readonly timedOut = new Set<string>();
  readonly #options: RunScopeOptions;
  /** Runs within calls that wait for an approval. */
  readonly #interrupted = new Map<string, RunOfAgentTool>();
  readonly #begun = new Map<string, BegunCall>();
  #asked: Promise<string | undefined> | undefined;
  #session: { readonly id: string | undefined } | undefined;

  constructor(options: RunScopeOptions) {
    this.#options = options;
    this.signal = options.signal;
  }

  /** Runs a function as a part of this run. */
  within<Result>(run: () => Result): Result {
    return places().run({ run: this }, run);
  }

  /** What records the calls of an agent. */
  callsOf(agent: NamedAgent | undefined): AdapterCalls | undefined {
    return (agent && coverage().agents.get(agent)) ?? this.#options.calls;
  }

  /** A call of this run, whose session is known by then. */
  call(
    agent: NamedAgent | undefined,
    call: Pick<HookedCall, 'toolName' | 'arguments' | 'callId'>,
  ): HookedCall {
    return { ...call, agentId: agent?.name, sessionId: this.knownSessionId, signal: this.signal };
  }

  /** Whether the session of the run's calls is known, be it that there is none. */
  get hasSession(): boolean {
    return this.#session !== undefined;
  }

  /** The session of the run's calls, where it is known. */
  get knownSessionId(): string | undefined {
    return this.#session?.id;
  }

  /** The session of the run's calls; asked once. */
  async sessionId(): Promise<string | undefined> {
    this.#asked ??= this.#options.sessionId().catch(() => undefined);
    this.#session = { id: await this.#asked };
    return this.#session.id;
  }

  /** Notes that a call is let through. */
  begin(callId: string, begun: BegunCall): void {
    void this.#begun.get(callId)?.end(unfinished);
    this.#begun.set(callId, begun);
  }

  /** Whether a call was let through and its end was not heard of. */
  isUnderWay(callId: string): boolean {
    return this.#begun.has(callId);
  }

  /** Lets what follows here run as the call that was let through. */
  enter(callId: string): void {
    places().enterWith({ run: this, callId });
    this.#begun.get(callId)?.enter();
  }

  /** Whether any call was let through whose end was not heard of. */
  get hasUnderWay(): boolean {
    return this.#begun.size > 0;
  }

  /** Notes that a run within a call was interrupted. */
  interrupt(callId: string | undefined, interrupted: RunOfAgentTool): void {
    if (callId) this.#interrupted.set(callId, interrupted);
  }

  /** Ends a call; only its first end counts. Resolves when it is recorded. */
  async end(callId: string, outcome: ToolOutcome): Promise<void> {
    const begun = this.#begun.get(callId);
    // An agent tool whose run waits for an approval is called again, whatever a `customOutputExtractor` makes of that.
    const isInterrupted = this.#interrupted.get(callId)?.agentToolInvocation?.toolCallId === callId;
    await begun?.end(isInterrupted && outcome.ok ? unfinished : outcome);
    if (this.#begun.get(callId) === begun) this.#begun.delete(callId);
  }

  /** Ends the calls that were let through and heard of no more. Resolves when all are recorded. */
  async endAll(outcome: ToolOutcome): Promise<void> {
    await Promise.all([...this.#begun.keys()].map((callId) => this.end(callId, outcome)));
  }
}
