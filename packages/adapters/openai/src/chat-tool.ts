import { ActionDeniedError } from '@actlog/recorder';
import { type AdapterCalls, chatTexts, type HookedCall, noteTexts } from '@actlog/recorder/adapter';
import { callIdOf } from './call-ids.ts';
import { noteInvalidArguments } from './openai-calls.ts';
import { parsedArguments } from './parsed-arguments.ts';
import { currentRunner, type ToolRunner } from './tool-runner.ts';

type Run = (args: unknown, runner?: ToolRunner, context?: unknown) => unknown;
type Parse = (text: string) => unknown;

/** The used part of a tool of `runTools`. */
export interface ChatTool {
  readonly function: { readonly name?: string; readonly function?: Run; readonly parse?: Parse };
  /** Set on tools created by `zodFunction`. */
  readonly $callback?: Run;
  readonly $parseRaw?: Parse;
}

/** Returns the name of a tool as used by `runTools`. */
export function nameOf({ function: own }: ChatTool): string {
  return own.name || own.function?.name || 'unknown';
}

/** Returns the same tool with its calls recorded and guarded. */
export function recordedChatTool(tool: ChatTool, calls: AdapterCalls): ChatTool {
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
  /** Texts written by the model, by the parsed arguments. */
  readonly #texts = new WeakMap<object, string>();
  /** Ids already matched per runner: the same tool may be called twice at once with the same arguments. */
  readonly #matched = new WeakMap<object, Set<string>>();

  constructor(toolName: string, calls: AdapterCalls) {
    this.#toolName = toolName;
    this.#calls = calls;
  }

  run(self: object, run: Run): Run {
    const hooked: Run = async (args, ...rest) => {
      try {
        return await this.#calls.run(this.#call(args, rest[0]), () => run.call(self, args, ...rest));
      } catch (error) {
        if (ActionDeniedError.isInstance(error)) return error.message; // thrown, it would end the run
        throw error;
      }
    };
    // A tool without a name has that of its function.
    return Object.defineProperty(hooked, 'name', { value: run.name });
  }

  parse(self: object, parse: Parse | undefined): Parse | undefined {
    if (!parse) return undefined;
    return (text) => {
      try {
        const args = parse.call(self, text);
        return args instanceof Promise
          ? args.then(
              (later) => this.#noteText(later, text),
              (error) => this.#invalid(error, text),
            )
          : this.#noteText(args, text);
      } catch (error) {
        return this.#invalid(error, text);
      }
    };
  }

  #noteText(args: unknown, text: string): unknown {
    if (typeof args === 'object' && args !== null) this.#texts.set(args, text);
    return args;
  }

  #invalid(error: unknown, text: string): never {
    if (noteInvalidArguments(error)) {
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
