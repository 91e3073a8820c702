import { AsyncLocalStorage } from 'node:async_hooks';
import type { ToolOutcome } from '@actlog/recorder';
import {
  type AdapterCalls,
  type BegunCall,
  type ConversationCall,
  chatTexts,
  type HookedCall,
  noteTexts,
  processWide,
  type ShownTexts,
} from '@actlog/recorder/adapter';
import { RunResult, RunState } from '@openai/agents';
import { coverage, processCoverage, unfinished } from '../agents-calls.ts';
import { sessionOf } from '../session-id.ts';

const strays = new WeakMap<object, RunScope>();

/**
 * Returns the run that a hook is called in. A run may have started before the SDK's classes were hooked, as in
 * `runner.run(actlog(agent))`, where the method is looked up first; its calls are still guarded.
 *
 * @param context - the run's context, which is the same object throughout the run
 */
export function runOf(context: object): RunScope {
  const current = currentRun();
  if (current) return current;
  const known = strays.get(context);
  if (known) return known;
  const stray = new RunScope({
    calls: processCoverage.current,
    sessionId: () => sessionOf({ input: undefined }),
    signal: new AbortController().signal,
  });
  strays.set(context, stray);
  return stray;
}

/** The used part of an agent. */
export interface NamedAgent {
  readonly name: string;
}

/** A running run, and the call in which code runs. */
interface Place {
  readonly run: RunScope;
  readonly callId?: string;
}

const places = processWide('@actlog/openai-agents/run', () => new AsyncLocalStorage<Place>());

/** Returns the run and call that this code belongs to. */
export function currentPlace(): Place | undefined {
  return places().getStore();
}

/** Returns the run that this code belongs to. */
export function currentRun(): RunScope | undefined {
  return places().getStore()?.run;
}

/** A run that may be for the call of an agent tool. */
export interface RunOfAgentTool {
  readonly agentToolInvocation?: { readonly toolCallId?: string } | undefined;
}

/** Options of a run scope. */
export interface RunScopeOptions {
  /** Recorder of agents that are not covered themselves. */
  readonly calls: AdapterCalls | undefined;
  /** The same, if it is from an agent: agents that the run reaches stay covered by it. Default: none. */
  readonly coveredByAgent?: AdapterCalls | undefined;
  /** Returns the session of the run's calls; called for the first of them. */
  readonly sessionId: () => Promise<string | undefined>;
  /** Input of the run: a prompt, messages, or the state of an interrupted run. Default: unknown. */
  readonly input?: unknown;
  /** Ends the run early. */
  readonly signal: AbortSignal;
}

/** One `Runner.run`, from its start to its end. */
export class RunScope {
  readonly signal: AbortSignal;
  /** Names of the tools of the run's agents. */
  readonly toolNames = new Set<string>();
  /** Calls recorded by a hook, or not to be recorded. */
  readonly seen = new Set<string>();
  /** Calls whose arguments the SDK removed because they are invalid. */
  readonly invalid = new Set<string>();
  /** Calls that exceeded their tool's `timeoutMs`. */
  readonly timedOut = new Set<string>();
  /** Failures of MCP servers by call, which the SDK passes on as text or like any other result. */
  readonly mcpFailures = new Map<string, ToolOutcome>();
  /** Calls that the guard denied. */
  readonly denied = new Set<string>();
  readonly #options: RunScopeOptions;
  /** Runs inside calls that wait for an approval. */
  readonly #interrupted = new Map<string, RunOfAgentTool>();
  readonly #begun = new Map<string, BegunCall>();
  /** Names of the agents of the run in the order in which they first acted, each after those that handed over to it. */
  readonly #agentNames = new Set<string>();
  #sessionLookup: Promise<string | undefined> | undefined;
  #session: { readonly id: string | undefined } | undefined;

  constructor(options: RunScopeOptions) {
    this.#options = options;
    this.signal = options.signal;
  }

  /** Input of the run, if known. */
  get input(): unknown {
    return this.#options.input;
  }

  /** Runs a function as part of this run. */
  within<Result>(run: () => Result): Result {
    return places().run({ run: this }, run);
  }

  /** Recorder of agents that the run reaches, in this run and in later ones. */
  get coveredByAgent(): AdapterCalls | undefined {
    return this.#options.coveredByAgent;
  }

  /** Returns the recorder of an agent's calls. */
  callsOf(agent: NamedAgent | undefined): AdapterCalls | undefined {
    const { agents, reached } = coverage();
    const { calls } = this.#options;
    if (!agent) return calls;
    const isOfRun = calls !== undefined && calls !== processCoverage.current;
    return agents.get(agent) ?? (isOfRun ? calls : (reached.get(agent) ?? calls));
  }

  /** Creates a call of this run. Its session must be known. */
  call(
    agent: NamedAgent | undefined,
    call: Pick<HookedCall, 'toolName' | 'arguments' | 'callId'>,
  ): HookedCall {
    const { toolName, callId } = call;
    this.recognizeBy({ toolName, callId }, agent);
    return {
      ...call,
      agentId: agent?.name,
      parentAgentIds: this.#agentsBefore(agent),
      sessionId: this.knownSessionId,
      signal: this.signal,
    };
  }

  /** Remembers that an agent acts in this run: the first one, or one that another has handed over to. */
  reach({ name }: NamedAgent): void {
    this.#agentNames.add(name);
  }

  /** Returns the names of the agents through whose handoffs the run reached an agent, the last first. */
  #agentsBefore(agent: NamedAgent | undefined): string[] {
    const names = [...this.#agentNames];
    const place = agent ? names.indexOf(agent.name) : -1;
    return place === -1 ? [] : names.slice(0, place).reverse();
  }

  /** Makes later turns of the conversation recognizable by a call, recorded or not. */
  recognizeBy(call: ConversationCall, agent?: NamedAgent): void {
    this.callsOf(agent)?.conversations.note(this.input, call, this.knownSessionId);
  }

  /** Makes later turns recognizable by the messages that the run returns for them. */
  recognizeByHistory(history: unknown): void {
    this.callsOf(undefined)?.conversations.noteReturned(this.input, history, this.knownSessionId);
  }

  /** `true` if the session of the run's calls is known, including that there is none. */
  get hasSession(): boolean {
    return this.#session !== undefined;
  }

  /** Session of the run's calls, if known. */
  get knownSessionId(): string | undefined {
    return this.#session?.id;
  }

  /** Returns the session of the run's calls, determined once. */
  async sessionId(): Promise<string | undefined> {
    this.#sessionLookup ??= this.#options.sessionId().catch(() => undefined);
    this.#session = { id: await this.#sessionLookup };
    return this.#session.id;
  }

  /** Tracks an allowed call. */
  begin(callId: string, begun: BegunCall): void {
    void this.#begun.get(callId)?.end(unfinished);
    this.#begun.set(callId, begun);
  }

  /** Returns `true` if a call was allowed and has not ended. */
  isUnderWay(callId: string): boolean {
    return this.#begun.has(callId);
  }

  /** Makes the following code part of an allowed call. */
  enter(callId: string): void {
    places().enterWith({ run: this, callId });
    this.#begun.get(callId)?.enter();
  }

  /** `true` if any allowed call has not ended. */
  get hasUnderWay(): boolean {
    return this.#begun.size > 0;
  }

  /** Remembers a run inside a call that was interrupted. */
  interrupt(callId: string | undefined, interrupted: RunOfAgentTool): void {
    if (callId) this.#interrupted.set(callId, interrupted);
  }

  /** Ends a call; only its first end counts. Resolves when it is recorded. */
  async end(callId: string, outcome: ToolOutcome): Promise<void> {
    const begun = this.#begun.get(callId);
    // An agent tool whose run waits for an approval is called again, whatever its `customOutputExtractor` returns.
    const isInterrupted = this.#interrupted.get(callId)?.agentToolInvocation?.toolCallId === callId;
    await begun?.end(isInterrupted && outcome.ok ? unfinished : outcome);
    if (this.#begun.get(callId) === begun) this.#begun.delete(callId);
  }

  /** Ends all allowed calls that have not ended. Resolves when they are recorded. */
  async endAll(outcome: ToolOutcome): Promise<void> {
    await Promise.all([...this.#begun.keys()].map((callId) => this.end(callId, outcome)));
  }
}

/**
 * Returns what the user and the system say in the input of a run: a prompt, messages, or an interrupted run's state.
 */
function inputTexts(input: unknown): Pick<ShownTexts, 'user' | 'system'> {
  if (typeof input === 'string') return { user: [input] };
  if (input instanceof RunState) return inputTexts(new RunResult(input).input);
  return chatTexts(input);
}

/** Passes what the user wrote to the recorder of an agent's calls, for the origins of arguments. */
export function rememberInput(run: RunScope, agent: NamedAgent): Promise<void> {
  return rememberRunTexts(run, agent, () => inputTexts(run.input));
}

/**
 * Passes messages to the recorder of an agent's calls, to trace argument origins.
 *
 * @param read - reads the messages; called only if they are used
 */
export async function rememberRunTexts(
  run: RunScope,
  agent: NamedAgent,
  read: () => Pick<ShownTexts, 'user' | 'system'>,
): Promise<void> {
  const calls = run.callsOf(agent);
  if (!calls?.tracesOrigins) return;
  const sessionId = await run.sessionId();
  noteTexts(calls, () => ({ sessionId, ...read() }));
}
