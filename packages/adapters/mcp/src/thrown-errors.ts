import { requestContext } from './request-context.ts';

/** What a tool threw, by the signal of the request: the one object that stays the same on the way to the tool. */
const thrown = new WeakMap<AbortSignal, { readonly error: unknown }>();
const watched = new WeakSet<object>();

type Callback = (...args: unknown[]) => unknown;

/** A registered tool of an `McpServer`. The SDKs call what runs it by different names. */
interface RegisteredTool {
  callback?: unknown; // v1 to 1.24
  handler?: unknown; // v1 since
  executor?: unknown; // v2
  update?: unknown;
}

/** An `McpServer` as it is inside. */
interface ToolRegistry {
  readonly _registeredTools?: Readonly<Record<string, RegisteredTool>>;
  registerTool?: unknown;
  tool?: unknown;
}

/**
 * An `McpServer` tells its client only the message of what a tool throws. This notes the error itself, which says more:
 * the HTTP status of a call that the tool made, say.
 */
export function noteThrownErrors(server: ToolRegistry): void {
  if (watched.has(server)) return;
  watched.add(server);
  for (const tool of Object.values(server._registeredTools ?? {})) watchTool(tool);
  for (const method of ['registerTool', 'tool'] as const) {
    const register = server[method];
    if (typeof register !== 'function') continue;
    server[method] = (...args: unknown[]) => {
      const tool = register.apply(server, args) as RegisteredTool;
      watchTool(tool);
      return tool;
    };
  }
}

/** What the tool threw in this request, once. */
export function takeThrownError(signal: AbortSignal | undefined): { readonly error: unknown } | undefined {
  const noted = signal && thrown.get(signal);
  if (signal) thrown.delete(signal);
  return noted;
}

function watchTool(tool: RegisteredTool): void {
  watchCallbacks(tool);
  const { update } = tool;
  if (typeof update !== 'function') return;
  tool.update = (...args: unknown[]) => {
    update.apply(tool, args);
    watchCallbacks(tool);
  };
}

function watchCallbacks(tool: RegisteredTool): void {
  for (const name of ['callback', 'handler', 'executor'] as const) {
    const run = tool[name];
    if (typeof run !== 'function' || watched.has(run)) continue;
    const noting = noteThrownBy(run as Callback);
    watched.add(noting);
    tool[name] = noting;
  }
}

function noteThrownBy(run: Callback): Callback {
  return async (...args) => {
    const { signal } = requestContext(args.at(-1)); // tools that take no arguments are given the context alone
    try {
      return await run(...args);
    } catch (error) {
      if (signal) thrown.set(signal, { error });
      throw error;
    }
  };
}
