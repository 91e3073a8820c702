import { type AdapterCalls, refuseOptions, withMethods } from '@actlog/recorder/adapter';
import type { ClientTool } from '@langchain/core/tools';
import { hookLangChain } from './hooks.ts';
import { recordInvocation } from './invocation.ts';
import { langChainCalls } from './langchain-calls.ts';
import type { ActlogOptions } from './options.ts';
import type { RunContext } from './run-context.ts';
import { noteWrapped } from './wrapped-tools.ts';

type Method = (...args: unknown[]) => unknown;

/** Wraps tools for `actlog.tools()`: the same tools, of the same types, recorded and guarded. */
export function recordTools<const Tools extends readonly ClientTool[]>(
  tools: Tools,
  options: ActlogOptions = {},
): { -readonly [Index in keyof Tools]: Tools[Index] } {
  refuseOptions(tools, 'actlog.tools(tools, { guard })');
  const calls = langChainCalls(options);
  hookLangChain();
  return tools.map((tool) => (calls.covers(tool.name) ? wrapped(tool, calls) : tool)) as {
    -readonly [Index in keyof Tools]: Tools[Index];
  };
}

function wrapped<Tool extends ClientTool>(tool: Tool, calls: AdapterCalls): Tool {
  const own = tool as unknown as Readonly<Record<string, Method>>;
  const recorded = (name: string) => {
    const wrapper = (input: unknown, config?: RunContext, ...rest: unknown[]) => {
      const run = () => own[name]?.(input, config, ...rest);
      const wrapping = { wrapper, wrapped: own[name] as Method };
      return recordInvocation(tool, calls, { input, config, run, wrapping });
    };
    return [name, wrapper];
  };
  // `call` is the former name of `invoke`.
  const entries = ['invoke', 'call'].filter((name) => name in tool).map(recorded);
  const view: Tool = withMethods(tool, {
    ...derivedMethods(tool, () => view),
    ...Object.fromEntries(entries),
  });
  noteWrapped(view);
  return view;
}

/**
 * Binds methods that LangChain derives from `invoke`, such as `batch` and `pipe`, to the view, so that their calls are
 * recorded too.
 */
function derivedMethods(tool: object, view: () => object): Record<string, Method> {
  const inherited: unknown = Object.getPrototypeOf(tool);
  const methods = Object.entries(Object.getOwnPropertyDescriptors(runnableOf(tool))).flatMap(
    ([name, { value }]) => {
      const isDerived = name !== 'constructor' && typeof value === 'function' && !Object.hasOwn(tool, name);
      if (!isDerived || (inherited as Record<string, unknown>)[name] !== value) return [];
      return [[name, (...args: unknown[]) => (value as Method).apply(view(), args)] as const];
    },
  );
  return Object.fromEntries(methods);
}

/**
 * Returns the Runnable prototype of the tool in its own copy of LangChain: `require` and `import` load different
 * copies.
 */
function runnableOf(tool: object): object {
  let runnable = {};
  for (let one = Object.getPrototypeOf(tool); one !== null; one = Object.getPrototypeOf(one)) {
    if (Object.hasOwn(one, 'pipe')) runnable = one;
  }
  return runnable;
}
