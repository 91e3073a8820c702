import { AsyncLocalStorage } from 'node:async_hooks';
import { processWide } from '@actlog/recorder/adapter';

/** Error that a tool threw during a request. */
interface Thrown {
  thrown: { readonly error: unknown } | undefined;
}

const current = processWide('@actlog/mcp/thrown-errors', () => new AsyncLocalStorage<Thrown>());
const watched = new WeakSet<object>();

type Callback = (...args: unknown[]) => unknown;

/** A tool of a server. The property with its function depends on the library and its version. */
interface Tool {
  callback?: unknown; // v1 up to 1.24
  handler?: unknown; // v1 from 1.25
  executor?: unknown; // v2
  update?: unknown;
}

/** Internals of an `McpServer`. */
interface ToolRegistry {
  readonly _registeredTools?: Readonly<Record<string, Tool>>;
  registerTool?: unknown;
  tool?: unknown;
}

/**
 * Remembers errors that tools throw. An `McpServer` sends its client only the message, but the error may contain more,
 * such as the HTTP status of a request made by the tool.
 */
export function rememberThrownErrors(server: ToolRegistry): void {
  if (watched.has(server)) return;
  watched.add(server);
  for (const tool of Object.values(server._registeredTools ?? {})) watchTool(tool);
  for (const method of ['registerTool', 'tool'] as const) {
    const register = server[method];
    if (typeof register !== 'function') continue;
    server[method] = (...args: unknown[]) => {
      const tool = register.apply(server, args) as Tool;
      watchTool(tool);
      return tool;
    };
  }
}

/** Handles a request; `thrown` is what a tool threw meanwhile, if its errors are remembered. */
export async function withThrownError<Result>(
  handle: () => Promise<Result>,
): Promise<Thrown & { readonly result: Result }> {
  const noted: Thrown = { thrown: undefined };
  const result = await current().run(noted, handle);
  return { result, thrown: noted.thrown };
}

/** Wraps the function of a tool to remember what it throws. */
export function rememberThrownBy(run: Callback): Callback {
  return async function (this: unknown, ...args) {
    try {
      return await run.apply(this, args);
    } catch (error) {
      const request = current().getStore();
      if (request) request.thrown = { error };
      throw error;
    }
  };
}

function watchTool(tool: Tool): void {
  watchCallbacks(tool);
  const { update } = tool;
  if (typeof update !== 'function') return;
  tool.update = (...args: unknown[]) => {
    update.apply(tool, args);
    watchCallbacks(tool);
  };
}

function watchCallbacks(tool: Tool): void {
  for (const name of ['callback', 'handler', 'executor'] as const) {
    const run = tool[name];
    if (typeof run !== 'function' || watched.has(run)) continue;
    const noting = rememberThrownBy(run as Callback);
    watched.add(noting);
    tool[name] = noting;
  }
}
