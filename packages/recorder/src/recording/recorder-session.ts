import { AsyncLocalStorage } from 'node:async_hooks';
import { parseTraceparent, traceparentOf } from '@actlog/tool-call';
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

/** Session of the calls that are made in an async context. */
interface SessionPlace {
  readonly id: string | undefined;
  /** W3C `traceparent` of calls outside any span; undefined for none. */
  readonly traceparent?: string | undefined;
}

const storage = processWide('@actlog/recorder/session', () => new AsyncLocalStorage<SessionPlace>());

/** Does the same as `prepareCalls` for sessions. */
export function prepareSessions(): void {
  storage().run({ id: undefined }, () => {});
}

/** Returns the id of the session whose `run` is active. */
export function currentSessionId(): string | undefined {
  return storage().getStore()?.id;
}

/** Part of the global registration of `@opentelemetry/api` that leads to the active span. */
interface OpenTelemetryApi {
  readonly context?: { active(): { getValue(key: symbol): unknown } };
}

/** Symbols of `@opentelemetry/api` 1, by which all of its copies in a process share one context. */
const openTelemetryApi = Symbol.for('opentelemetry.js.api.1');
const openTelemetrySpan = Symbol.for('OpenTelemetry Context Key SPAN');

/**
 * Returns the `traceparent` of the active OpenTelemetry span, otherwise of the surrounding session. Reads what the
 * host has registered, so that the recorder needs no dependency. Never throws.
 */
export function activeTraceparent(): string | undefined {
  return spanTraceparent() ?? storage().getStore()?.traceparent;
}

function spanTraceparent(): string | undefined {
  const { [openTelemetryApi]: api } = globalThis as { readonly [openTelemetryApi]?: OpenTelemetryApi };
  if (api?.context === undefined) return undefined;
  try {
    const span = api.context.active().getValue(openTelemetrySpan) as
      | { spanContext(): Parameters<typeof traceparentOf>[0] }
      | undefined;
    return span && traceparentOf(span.spanContext());
  } catch {
    return undefined; // of another version, or of a context manager that threw
  }
}

/**
 * Makes this the session of all following calls without one in the current async context, where no function can be
 * wrapped.
 */
export function enterSession(id: string): void {
  storage().enterWith({ ...storage().getStore(), id });
}

/** Options of a session. */
export interface SessionOptions {
  /**
   * W3C `traceparent` of calls that no active OpenTelemetry span surrounds, for example of the request that started
   * the run. An invalid value is ignored. Default: from a surrounding `session.run`.
   */
  readonly traceparent?: string | undefined;
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
  readonly #traceparent: string | undefined;

  constructor(id: string, recorder: SessionRecorder, { traceparent }: SessionOptions = {}) {
    this.id = id;
    this.#recorder = recorder;
    this.#traceparent = traceparent === undefined ? undefined : parseTraceparent(traceparent);
  }

  /** Runs a function in which this is the session of all calls without one, also after an `await`. */
  run<Args extends unknown[], Result>(fn: (...args: Args) => Result, ...args: Args): Result {
    const { id } = this;
    const traceparent = this.#traceparent ?? storage().getStore()?.traceparent;
    return storage().run({ id, traceparent }, fn, ...args);
  }

  /** Calls `recorder.toolCall` in this session. */
  toolCall<Result>(call: ToolCall, run: RunCall<Result>): Promise<Result> {
    const traceparent = this.#traceparentOf(call.traceparent);
    return this.#recorder.toolCall({ ...call, traceparent, sessionId: this.id }, run);
  }

  /** Calls `recorder.record` in this session. */
  record(facts: ToolCallFacts): string {
    const traceparent = this.#traceparentOf(facts.traceparent);
    return this.#recorder.record({ ...facts, traceparent, sessionId: this.id });
  }

  #traceparentOf(stated: string | undefined): string | undefined {
    return stated ?? (this.#traceparent && (spanTraceparent() ?? this.#traceparent));
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
