import type { SessionRecorder } from './session.ts';

/** Functions by name. */
export type ToolFunctions = Record<string, (...args: never[]) => unknown>;

/** The same functions; each returns a promise. */
export type Instrumented<Tools extends ToolFunctions> = {
  [Name in keyof Tools]: (...args: Parameters<Tools[Name]>) => Promise<Awaited<ReturnType<Tools[Name]>>>;
};

type Recording = Pick<SessionRecorder, 'toolCall'>;

/** The recorders for which a function is instrumented already, by any copy of this package. */
const mark = Symbol.for('@actlog/recorder/instrumented');

/**
 * Wraps functions so that every call of one is a tool call; a function that is wrapped already for this recorder stays as
 * it is.
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
    throw new TypeError(`instrument: ${JSON.stringify(toolName)} is no function.`);
  const { [mark]: recorders = [] } = tool as { [mark]?: readonly Recording[] };
  if (recorders.includes(recorder)) return tool;
  const wrapped = function (this: unknown, ...args: never[]): unknown {
    const signal = signalOf(args.at(-1));
    // Options that come after the arguments say how to call, and not with what.
    const asked = signal && args.length > 1 ? args.slice(0, -1) : args;
    // One object is how models call tools; several parameters are hashed as a list.
    const given: unknown = asked.length <= 1 ? asked[0] : asked;
    return recorder.toolCall({ toolName, arguments: given, signal }, () => tool.apply(this, args));
  };
  return Object.defineProperties(wrapped, {
    [mark]: { value: [...recorders, recorder] },
    name: { value: tool.name },
    length: { value: tool.length },
  });
}

/** The signal of a last parameter that is one or has one, as `fetch` and Node's own functions take it. */
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
