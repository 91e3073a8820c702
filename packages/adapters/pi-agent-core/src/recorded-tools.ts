import { ActionDeniedError } from '@actlog/recorder';
import {
  type AdapterCalls,
  type AdapterOptions,
  type HookedCall,
  processWide,
  refuseOptions,
  withMethods,
} from '@actlog/recorder/adapter';
import { type AgentRun, currentRun, hookedCall, noteDenial, within } from './agent-runs.ts';
import type { PiTool } from './pi-agent.ts';
import { piCalls } from './pi-calls.ts';

type Execute = (
  toolCallId: string,
  params: unknown,
  signal?: AbortSignal,
  onUpdate?: unknown,
) => Promise<unknown>;

/** Tools and their views. */
const views = processWide('@actlog/pi-agent-core/views', () => new WeakMap<PiTool, PiTool>());

/** Views of tools. */
const isView = processWide('@actlog/pi-agent-core/is-view', () => new WeakSet<PiTool>());

/** Puts views in the place of tools. In a covered run they record its calls, elsewhere they do nothing. */
export function viewTools(tools: PiTool[]): void {
  for (const [place, tool] of tools.entries()) if (!isView().has(tool)) tools[place] = viewOf(tool);
}

function viewOf(tool: PiTool): PiTool {
  const known = views().get(tool);
  if (known) return known;
  const { prepareArguments } = tool as { prepareArguments?: (args: unknown) => unknown };
  const prepare = (args: unknown) => {
    try {
      return prepareArguments?.call(tool, args);
    } catch (error) {
      currentRun()?.noteInvalid(args);
      throw error;
    }
  };
  const methods = { execute: recordedInRun(tool), ...(prepareArguments && { prepareArguments: prepare }) };
  const view = withMethods(tool, methods, 'class-methods');
  views().set(tool, view);
  isView().add(view);
  return view;
}

function recordedInRun(tool: PiTool): Execute {
  return (callId, params, signal, onUpdate) => {
    const run = currentRun();
    const proceed = () => executeOf(tool)(callId, params, signal, onUpdate);
    if (!run) return proceed();
    run.noteRan(callId);
    if (!run.calls.covers(tool.name)) return within({ run, calls: run.calls }, proceed);
    const call = hookedCall(run, { toolName: tool.name, callId, arguments: params, signal });
    return recorded(call, { run, calls: run.calls }, proceed);
  };
}

/** Wraps tools for `actlog.tools()`: the same tools, of the same types. */
export function recordTools<const Tools extends readonly PiTool[]>(
  tools: Tools,
  options: AdapterOptions = {},
): { -readonly [Index in keyof Tools]: Tools[Index] } {
  refuseOptions(tools, 'actlog.tools(tools, { guard })');
  const calls = piCalls(options);
  return tools.map((tool) => (calls.covers(tool.name) ? wrapped(tool, calls) : tool)) as {
    -readonly [Index in keyof Tools]: Tools[Index];
  };
}

function wrapped(tool: PiTool, calls: AdapterCalls): PiTool {
  const execute: Execute = (callId, params, signal, onUpdate) => {
    const call = { toolName: tool.name, arguments: params, callId, signal };
    return recorded(call, { run: currentRun(), calls }, () =>
      executeOf(tool)(callId, params, signal, onUpdate),
    );
  };
  return withMethods(tool, { execute }, 'class-methods');
}

function executeOf(tool: PiTool): Execute {
  return tool.execute.bind(tool) as Execute;
}

/** Runs a tool, recorded and guarded. Throws a denial, which pi converts to an error result for the model. */
async function recorded(
  call: HookedCall,
  place: { readonly run: AgentRun | undefined; readonly calls: AdapterCalls },
  proceed: () => Promise<unknown>,
): Promise<unknown> {
  const { run, calls } = place;
  try {
    return await calls.run(call, () => {
      run?.denied.letThrough(call.toolName);
      return within(place, proceed);
    });
  } catch (error) {
    if (run && ActionDeniedError.isInstance(error)) noteDenial(run, call, error);
    throw error;
  }
}
