import { AsyncLocalStorage } from 'node:async_hooks';
import type { RunCall, ToolCall, ToolCallFacts } from '../events/tool-call.ts';
import { processWide } from '../lib/process-wide.ts';
import type { TextAuthor } from '../origins/session-origins.ts';

/** Functions by name. */
export type ToolFunctions = Record<string, (...args: never[]) => unknown>;

/** The same functions, returning promises. */
export type Instrumented<Tools extends ToolFunctions> = {
  [Name in keyof Tools]: (...args: Parameters<Tools[Name]>) => Promise<Awaited<ReturnType<Tools[Name]>>>;
};

type Recording = Pick<SessionRecorder, 'toolCall'>;

/** Symbol of the recorders for which a function is already instrumented, by any copy of this package. */
const mark = Symbol.for('@actlog/recorder/instrumented');

/**
 * Wraps functions so that each call is a tool call. A function already wrapped for this recorder is returned unchanged.
 */
export function instrumentTools<Tools extends ToolFunctions>(
  tools: Tools,
  recorder: Recording,
): Instrumented<Tools> {
  const wrapped = Object.entries(tools).map(([toolName, tool]) => [toolName, wrap(toolName, tool, recorder)]);
  return Object.fromEntries(wrapped) as Instrumented<Tools>;
}

function wrap(toolName: string, tool: ToolFunctions[string], recorder: Recording): ToolFunctions[string] {
  if (typeof tool !== 'function')
    throw new TypeError(`instrument: ${JSON.stringify(toolName)} must be a function.`);
  const { [mark]: recorders = [] } = tool as { [mark]?: readonly Recording[] };
  if (recorders.includes(recorder)) return tool;
  const wrapped = function (this: unknown, ...args: never[]): unknown {
    const signal = signalOf(args.at(-1));
    // Options after the arguments are not part of the arguments.
    const parameters = signal && args.length > 1 ? args.slice(0, -1) : args;
    // Models call tools with one object; several parameters are hashed as a list.
    const given: unknown = parameters.length <= 1 ? parameters[0] : parameters;
    const call = { toolName, arguments: given, signal, acceptsChanges: parameters.length === 1 };
    return recorder.toolCall(call, (changed, change) =>
      tool.apply(this, change ? ([changed, ...args.slice(1)] as never[]) : args),
    );
  };
  return Object.defineProperties(wrapped, {
    [mark]: { value: [...recorders, recorder] },
    name: { value: tool.name },
    length: { value: tool.length },
  });
}

/** Returns the signal of a last parameter that is or has one, as in `fetch` and Node's functions. */
function signalOf(last: unknown): AbortSignal | undefined {
  if (typeof last !== 'object' || last === null) return undefined;
  try {
    if (last instanceof AbortSignal) return last;
    const { signal } = last as { signal?: unknown };
    return signal instanceof AbortSignal ? signal : undefined;
  } catch {
    return undefined; // a getter threw
  }
}

const storage = processWide('@actlog/recorder/session', () => new AsyncLocalStorage<string>());

/** Does the same as `prepareCalls` for sessions. */
export function prepareSessions(): void {
  storage().run('', () => {});
}

/** Returns the id of the session whose `run` is active. */
export function currentSessionId(): string | undefined {
  return storage().getStore();
}

/**
 * Makes this the session of all following calls without one in the current async context, where no function can be
 * wrapped.
 */
export function enterSession(id: string): void {
  storage().enterWith(id);
}

/** Receiver of a session's calls. */
export interface SessionRecorder {
  toolCall<Result>(call: ToolCall, run: RunCall<Result>): Promise<Result>;
  record(facts: ToolCallFacts): string;
  noteText(author: TextAuthor, text: string, sessionId?: string): void;
}

/** One conversation or run of an agent: calls recorded through it carry its id. */
export class RecorderSession {
  /** Id of the session: passed by the caller, or a UUID. */
  readonly id: string;
  readonly #recorder: SessionRecorder;

  constructor(id: string, recorder: SessionRecorder) {
    this.id = id;
    this.#recorder = recorder;
  }

  /** Runs a function in which this is the session of all calls without one, also after an `await`. */
  run<Args extends unknown[], Result>(fn: (...args: Args) => Result, ...args: Args): Result {
    return storage().run(this.id, fn, ...args);
  }

  /** Calls `recorder.toolCall` in this session. */
  toolCall<Result>(call: ToolCall, run: RunCall<Result>): Promise<Result> {
    return this.#recorder.toolCall({ ...call, sessionId: this.id }, run);
  }

  /** Calls `recorder.record` in this session. */
  record(facts: ToolCallFacts): string {
    return this.#recorder.record({ ...facts, sessionId: this.id });
  }

  /**
   * Remembers what the user said in this session, for `origins`: arguments found in it came from the user. Repeated
   * text is ignored, so the whole conversation may be passed each time.
   */
  userText(text: string): void {
    this.#recorder.noteText('user', text, this.id);
  }

  /** Does the same for the system prompt, or another text that the developer wrote. */
  systemText(text: string): void {
    this.#recorder.noteText('system', text, this.id);
  }
}
