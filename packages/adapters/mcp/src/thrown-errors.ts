import { requestContext } from './request-context.ts';

/** Errors of tools, by the signal of the request, which is the only object passed unchanged to the tool. */
const thrown = new WeakMap<AbortSignal, { readonly error: unknown }>();
const watched = new WeakSet<object>();

type Callback = (...args: unknown[]) => unknown;

/** A registered tool of an `McpServer`. The property with its function depends on the SDK version. */
interface RegisteredTool {
  callback?: unknown; // v1 up to 1.24
  handler?: unknown; // v1 from 1.25
  executor?: unknown; // v2
  update?: unknown;
}

/** Internals of an `McpServer`. */
interface ToolRegistry {
  readonly _registeredTools?: Readonly<Record<string, RegisteredTool>>;
  registerTool?: unknown;
  tool?: unknown;
}

/**
 * Notes the errors of tools. An `McpServer` sends its client only the message, but the error may contain more, such as
 * the HTTP status of a request made by the tool.
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

/** Returns and removes the error of the tool in this request. */
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
    const { signal } = requestContext(args.at(-1)); // tools without arguments receive only the context
    try {
      return await run(...args);
    } catch (error) {
      if (signal) thrown.set(signal, { error });
      throw error;
    }
  };
}
