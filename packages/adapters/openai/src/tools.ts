import { AsyncLocalStorage } from 'node:async_hooks';
import { ActionDeniedError } from '@actlog/recorder';
import {
  type AdapterCalls,
  type AdapterOptions,
  chatTexts,
  type HookedCall,
  type Method,
  MethodHooks,
  noteTexts,
  processWide,
  refuseOptions,
  stringifyExactJson,
} from '@actlog/recorder/adapter';
import { AbstractChatCompletionRunner } from 'openai/lib/AbstractChatCompletionRunner';
import { callIdOf, openAICalls, parsedArguments, rememberInvalidArguments } from './openai-calls.ts';

/**
 * Tools of the SDK's loops: tools of `runTools`, functions of the tool runner for the Responses API, and tools that
 * only OpenAI can run.
 */
export type AnyTool =
  | {
      readonly type: 'function';
      readonly function: {
        readonly name?: string | undefined;
        readonly description?: string | undefined;
        readonly parameters?: unknown;
        readonly strict?: boolean | null | undefined;
        // biome-ignore lint/suspicious/noExplicitAny: the SDK checks what a function takes where the tools are used
        readonly function?: (args: any, runner: any, context: any) => unknown;
        // biome-ignore lint/suspicious/noExplicitAny: as above
        readonly parse?: (input: string) => any;
      };
    }
  | {
      readonly tool: { readonly name: string };
      // biome-ignore lint/suspicious/noExplicitAny: as above
      readonly execute: (args: any, options?: any) => unknown;
    }
  | { readonly type: string };

/** Wraps tools for `actlog()`: the same tools, of the same types, recorded and guarded. */
export function recordTools<const Tools extends readonly AnyTool[]>(
  tools: Tools,
  options: AdapterOptions = {},
): { -readonly [Index in keyof Tools]: Tools[Index] } {
  refuseOptions(tools, 'actlog(tools, { guard })');
  const calls = openAICalls(options);
  const unheld = openAICalls(options, false);
  hookToolRunner();
  return tools.map((tool) => {
    if ('execute' in tool && calls.covers(tool.tool.name)) {
      return recordedResponsesFunction(tool as ResponsesFunction, { calls, unheld });
    }
    const isChatTool = 'function' in tool && calls.covers(nameOf(tool as ChatTool));
    return isChatTool ? recordedChatTool(tool as ChatTool, calls) : tool;
  }) as { -readonly [Index in keyof Tools]: Tools[Index] };
}

type Execute = (args: object, options?: { readonly signal?: AbortSignal | undefined }) => unknown;

/** A function of the tool runner for the Responses API. */
interface ResponsesFunction {
  readonly tool: { readonly name: string };
  readonly execute: Execute;
}

/** Recorders of a function's calls. */
interface ResponsesCalls {
  readonly calls: AdapterCalls;
  /** The same for calls that do not notice an abort and therefore cannot be held. */
  readonly unheld: AdapterCalls;
}

/** Returns the same function with its calls recorded and guarded. */
function recordedResponsesFunction(
  own: ResponsesFunction,
  { calls, unheld }: ResponsesCalls,
): ResponsesFunction {
  const { execute } = own;
  const hooked: Execute = (args, options) =>
    recordExecution(calls, { ...callOf(own, args, options?.signal), acceptsChanges: true }, (given) =>
      execute.call(own, given, options),
    );
  // Functions created by the SDK run in two stages: first all calls of a turn are validated, then they run. The first
  // stage is a property of `execute` under a symbol, and neither stage receives a signal.
  for (const stage of Object.getOwnPropertySymbols(execute)) {
    const prepare = (execute as unknown as Record<symbol, unknown>)[stage];
    if (typeof prepare !== 'function') continue;
    const value = (args: object) => {
      const run = prepared(prepare as Prepare, args, (error) => {
        if (rememberInvalidArguments(error)) unheld.record(callOf(own, args), { ok: false, error });
      });
      return () => recordExecution(unheld, callOf(own, args), run);
    };
    Object.defineProperty(hooked, stage, { value });
  }
  return Object.create(Object.getPrototypeOf(own), {
    ...Object.getOwnPropertyDescriptors(own),
    execute: { value: hooked, enumerable: true },
  });
}

type Prepare = (args: object) => () => unknown;

function prepared(prepare: Prepare, args: object, onError: (error: unknown) => void): () => unknown {
  try {
    return prepare(args);
  } catch (error) {
    onError(error);
    throw error;
  }
}

function callOf({ tool }: ResponsesFunction, args: object, signal?: AbortSignal) {
  return { toolName: tool.name, arguments: args, callId: callIdOf(args), signal };
}

async function recordExecution(
  calls: AdapterCalls,
  call: HookedCall,
  run: (args: object) => unknown,
): Promise<unknown> {
  try {
    return await calls.run(call, (args) => run(args as object));
  } catch (error) {
    if (ActionDeniedError.isInstance(error)) return error.message; // thrown, it would end the run
    throw error;
  }
}

type Run = (args: unknown, runner?: ToolRunner, context?: unknown) => unknown;
type Parse = (text: string) => unknown;

/** The used part of a tool of `runTools`. */
interface ChatTool {
  readonly function: { readonly name?: string; readonly function?: Run; readonly parse?: Parse };
  /** Set on tools created by `zodFunction`. */
  readonly $callback?: Run;
  readonly $parseRaw?: Parse;
}

/** Returns the name of a tool as used by `runTools`. */
function nameOf({ function: own }: ChatTool): string {
  return own.name || own.function?.name || 'unknown';
}

/** Returns the same tool with its calls recorded and guarded. */
function recordedChatTool(tool: ChatTool, calls: AdapterCalls): ChatTool {
  const { function: own, $callback, $parseRaw } = tool;
  const hook = new ChatToolHook(nameOf(tool), calls);
  if ($callback) {
    // Tools of `zodFunction` have both as read-only properties, so create a copy.
    return copyWith(tool, { $callback: hook.run(tool, $callback), $parseRaw: hook.parse(tool, $parseRaw) });
  }
  if (!own.function) return tool;
  const hooked = {
    function: hook.run(own, own.function),
    ...(own.parse && { parse: hook.parse(own, own.parse) }),
  };
  return copyWith(tool, { function: copyWith(own, hooked) });
}

/** Copies an object, keeping its class, with some properties replaced. */
function copyWith<Target extends object>(
  target: Target,
  values: Partial<Record<keyof Target, unknown>>,
): Target {
  const descriptors = Object.getOwnPropertyDescriptors(target) as Record<string, PropertyDescriptor>;
  for (const [name, value] of Object.entries(values)) descriptors[name] = { ...descriptors[name], value };
  return Object.create(Object.getPrototypeOf(target), descriptors);
}

class ChatToolHook {
  readonly #toolName: string;
  readonly #calls: AdapterCalls;
  /** Arguments as the model wrote them, by the parsed arguments. */
  readonly #texts = new WeakMap<object, string>();
  /** Ids already matched per runner: the same tool may be called twice at once with the same arguments. */
  readonly #matched = new WeakMap<object, Set<string>>();
  /** Parser of the tool; undefined for a tool that receives the model's text. */
  #parse: Parse | undefined;

  constructor(toolName: string, calls: AdapterCalls) {
    this.#toolName = toolName;
    this.#calls = calls;
  }

  run(self: object, run: Run): Run {
    const hooked: Run = async (args, ...rest) => {
      try {
        const call = this.#call(args, rest[0]);
        return await this.#calls.run(call, async (changed, change) =>
          run.call(self, change ? await this.#parseAgain(changed) : args, ...rest),
        );
      } catch (error) {
        if (ActionDeniedError.isInstance(error)) return error.message; // thrown, it would end the run
        throw error;
      }
    };
    // A tool without a name has the name of its function.
    return Object.defineProperty(hooked, 'name', { value: run.name });
  }

  parse(self: object, parse: Parse | undefined): Parse | undefined {
    if (!parse) return undefined;
    this.#parse = (text) => parse.call(self, text);
    return (text) => {
      try {
        const args = parse.call(self, text);
        return args instanceof Promise
          ? args.then(
              (later) => this.#rememberText(later, text),
              (error) => this.#invalid(error, text),
            )
          : this.#rememberText(args, text);
      } catch (error) {
        return this.#invalid(error, text);
      }
    };
  }

  /** Returns changed arguments as the tool receives them. Its schema may not permit them. */
  #parseAgain(changed: unknown): unknown {
    const text = stringifyExactJson(changed) as string;
    return this.#parse ? this.#parse(text) : text;
  }

  #rememberText(args: unknown, text: string): unknown {
    if (typeof args === 'object' && args !== null) this.#texts.set(args, text);
    return args;
  }

  #invalid(error: unknown, text: string): never {
    if (rememberInvalidArguments(error)) {
      const runner = currentRunner();
      const callId = runner && this.#callId(runner, text);
      const call = { toolName: this.#toolName, arguments: parsedArguments(text), callId };
      this.#calls.record({ ...call, sessionId: this.#sessionOf(runner, callId) }, { ok: false, error });
    }
    throw error;
  }

  #call(args: unknown, runner: ToolRunner | undefined): HookedCall {
    const text = (typeof args === 'object' && args !== null && this.#texts.get(args)) || args;
    const toolName = this.#toolName;
    const callId = runner && this.#callId(runner, text);
    const sessionId = this.#sessionOf(runner, callId);
    noteTexts(this.#calls, () => ({ sessionId, ...chatTexts(runner?.messages) }));
    return {
      toolName,
      arguments: parsedArguments(text),
      callId: callIdOf(args, callId),
      sessionId,
      signal: runner?.controller?.signal,
      acceptsChanges: true,
    };
  }

  #sessionOf(runner: ToolRunner | undefined, callId: string | undefined): string | undefined {
    const { conversations } = this.#calls;
    const sessionId = conversations.sessionOf(runner?.messages);
    conversations.note(runner?.messages, { toolName: this.#toolName, callId }, sessionId);
    return sessionId;
  }

  /** Finds the id of the call with these arguments, which the SDK does not pass to its tools. */
  #callId(runner: ToolRunner, text: unknown): string | undefined {
    const matched = this.#matched.get(runner) ?? new Set();
    this.#matched.set(runner, matched);
    const requested = runner.messages?.findLast(({ tool_calls }) => tool_calls?.length)?.tool_calls ?? [];
    const found = requested.find(
      ({ id, function: call }) =>
        call?.name === this.#toolName && call.arguments === text && !matched.has(id),
    );
    if (found) matched.add(found.id);
    return found?.id;
  }
}

interface AssistantMessage {
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function?: { readonly name: string; readonly arguments: string };
  }[];
}

/** The used part of the runner of `runTools`. */
interface ToolRunner {
  readonly messages?: readonly AssistantMessage[];
  readonly controller?: AbortController;
}

const hookedMethods = new MethodHooks('@actlog/openai/hooked-methods');

const runners = processWide('@actlog/openai/runner', () => new AsyncLocalStorage<ToolRunner>());

/** Returns the runner in which code runs. The SDK passes it to the functions of tools, but not to their `parse`. */
function currentRunner(): ToolRunner | undefined {
  return runners().getStore();
}

/** Hooks the loop of `runTools` once, so that `currentRunner` knows it. */
function hookToolRunner(): void {
  const prototype = AbstractChatCompletionRunner.prototype as unknown as { _runTools?: Method };
  if (!prototype._runTools) return; // undocumented
  hookedMethods.hook(prototype, '_runTools', (runner: ToolRunner, run: Method, args) =>
    runners().run(runner, () => run.apply(runner, args)),
  );
}
