import { type AdapterCalls, type AdapterOptions, refuseOptions, withMethods } from '@actlog/recorder/adapter';
import type { Tool, ToolContext, ToolList } from '@strands-agents/sdk';
import { withinCall } from './coverage.ts';
import { hookStrands } from './hooks.ts';
import { recordedStream } from './recorded-tool.ts';
import { hookedCall, strandsCalls } from './strands-calls.ts';
import { noteWrapped } from './wrapped-tools.ts';

/** Wraps tools for `actlog.tools()`: the same tools, of the same types. Agents and MCP clients are unchanged. */
export function recordTools<const Tools extends Readonly<ToolList>>(
  tools: Tools,
  options: AdapterOptions = {},
): { -readonly [Index in keyof Tools]: Tools[Index] } {
  refuseOptions(tools, 'actlog.tools(tools, { guard })');
  const calls = strandsCalls(options);
  hookStrands();
  return tools.map((entry) => recordedEntry(entry, calls)) as {
    -readonly [Index in keyof Tools]: Tools[Index];
  };
}

function recordedEntry(entry: ToolList[number], calls: AdapterCalls): ToolList[number] {
  if (Array.isArray(entry)) return entry.map((inner) => recordedEntry(inner, calls));
  return isTool(entry) && calls.covers(entry.name) ? wrapped(entry, calls) : entry;
}

/** Agents also have `stream`, but no description for the model. */
function isTool(entry: object): entry is Tool {
  return 'toolSpec' in entry && typeof (entry as Partial<Tool>).stream === 'function';
}

type Invoke = (input: unknown, context?: ToolContext) => unknown;

interface WithInvoke {
  readonly invoke?: Invoke;
}

function wrapped(tool: Tool & WithInvoke, calls: AdapterCalls): Tool {
  const { invoke } = tool;
  const view = withMethods(tool, {
    stream: (context: ToolContext) => recordedStream(tool, calls, context),
    ...(invoke && { invoke: recordedInvoke(tool, invoke, calls) }),
  });
  noteWrapped(view);
  return view;
}

function recordedInvoke(tool: Tool, invoke: Invoke, calls: AdapterCalls): Invoke {
  const wrapper: Invoke = (input, context) => {
    const known = context && hookedCall(context, calls);
    const wrapping = { wrapper, wrapped: invoke };
    const call = { ...known, toolName: tool.name, arguments: input, wrapping };
    const covered = { calls, agent: context?.agent };
    return calls.run(call, () => withinCall(covered, () => invoke.call(tool, input, context)));
  };
  return wrapper;
}
