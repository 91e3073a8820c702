import type { SessionRecorder } from './recorder-session.ts';

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
    return recorder.toolCall({ toolName, arguments: given, signal }, () => tool.apply(this, args));
  };
  return Object.defineProperties(wrapped, {
    [mark]: { value: [...recorders, recorder] },
    name: { value: tool.name },
    length: { value: tool.length },
  });
}

/** Returns the signal of a last parameter that is or has one, as in `fetch` and Node's own functions. */
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
