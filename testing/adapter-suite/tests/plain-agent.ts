import { ActionDeniedError, type ToolOutcome } from '@actlog/recorder';
import { AdapterCalls, type AdapterOptions, type HookedCall } from '@actlog/recorder/adapter';
import { fullAbilities } from '../src/harness.ts';
import type { AdapterHarness, Ending, Scenario, ScriptedCall, SuiteTool } from '../src/index.ts';

/**
 * The smallest framework that an adapter could be written for: a loop over the model's calls, with a hook around each.
 */
export type PlainHook = (
  call: PlainCall,
  /** Runs the tool, with the arguments of the call or with others. */
  run: (args?: PlainCall['arguments']) => Promise<string>,
) => Promise<string>;

/** A call as seen by the plain framework's hooks. */
export interface PlainCall extends ScriptedCall {
  readonly id: string;
  readonly thread: string;
  /** The conversation so far, without what the model said. */
  readonly messages: readonly { readonly role: 'user' | 'system'; readonly text: string }[];
  readonly signal: AbortSignal | undefined;
}

/** Error for a call of an unknown tool. */
class NoSuchToolError extends Error {
  override readonly name = 'NoSuchToolError';
}

/** Error for arguments that a tool does not accept. */
class InvalidToolInputError extends Error {
  override readonly name = 'InvalidToolInputError';
}

async function runTool(
  tools: readonly SuiteTool[],
  { toolName, arguments: args }: PlainCall,
  signal?: AbortSignal,
) {
  const tool = tools.find(({ name }) => name === toolName);
  if (!tool) throw new NoSuchToolError(`There is no tool ${toolName}.`);
  const { text } = args;
  if (typeof text !== 'string') throw new InvalidToolInputError('text: expected a string.');
  return tool.run({ text }, signal);
}

/** Runs the plain agent: the calls of a turn in parallel, one turn after another. */
async function runAgent(
  { tools, turns, sessionId, signal, userText = 'go', systemText }: Scenario,
  hooks: readonly PlainHook[],
): Promise<Ending> {
  const toolResults: { text: string; isError: boolean }[] = [];
  const messages = [
    ...(systemText === undefined ? [] : [{ role: 'system' as const, text: systemText }]),
    { role: 'user' as const, text: userText },
  ];
  for (const [index, turn] of turns.entries()) {
    const told = turn.map(async (scripted, place) => {
      const call = { ...scripted, id: `${index}-${place}`, thread: sessionId, messages, signal };
      const run = hooks.reduceRight<(args: PlainCall['arguments']) => Promise<string>>(
        (next, hook) => (args) => hook({ ...call, arguments: args }, (changed = args) => next(changed)),
        (args) => runTool(tools, { ...call, arguments: args }, signal),
      );
      try {
        return { text: await run(call.arguments), isError: false };
      } catch (error) {
        return { text: (error as Error).message, isError: true };
      }
    });
    toolResults.push(...(await Promise.all(told)));
    if (signal?.aborted) return { toolResults, error: signal.reason };
  }
  return { toolResults, finalText: 'done' };
}

/** Faults of an adapter: each replaces one part of the plain one. */
export interface Fault {
  readonly traits?: Partial<ConstructorParameters<typeof AdapterCalls>[0]>;
  readonly options?: (options: AdapterOptions) => AdapterOptions;
  readonly call?: (call: HookedCall) => HookedCall;
  /** Replaces what the adapter passes of a message. */
  readonly text?: (message: PlainCall['messages'][number]) => PlainCall['messages'][number] | undefined;
  /** Replaces the hook of the plain adapter. */
  readonly hook?: (hook: PlainHook, options: AdapterOptions) => PlainHook;
}

/** Returns the status of a call that the framework refused; undefined for an error of the tool itself. */
function refusalStatus(outcome: ToolOutcome): number | undefined {
  if (outcome.ok) return undefined;
  if (outcome.error instanceof NoSuchToolError) return 404;
  return outcome.error instanceof InvalidToolInputError ? 400 : undefined;
}

/** Creates the adapter of the plain framework, correct or with a fault. */
function plainActlog(
  given: AdapterOptions,
  { traits, options, call: alter, text: altered = (message) => message, hook: replace }: Fault,
): PlainHook {
  const settings = options?.(given) ?? given;
  const own = { framework: 'plain', sdk: '@example/plain/1.0.0', statusOf: refusalStatus };
  const calls = new AdapterCalls({ ...own, ...traits }, settings);
  const hook: PlainHook = ({ toolName, arguments: args, id, thread, messages, signal }, run) => {
    if (!calls.covers(toolName)) return run();
    if (calls.tracesOrigins) {
      for (const message of messages.flatMap((one) => altered(one) ?? []))
        calls.noteText(message.role, message.text, thread);
    }
    const call = { toolName, arguments: args, callId: id, sessionId: thread, signal, acceptsChanges: true };
    return calls.run(alter?.(call) ?? call, (given) => run(given as PlainCall['arguments']));
  };
  return replace?.(hook, settings) ?? hook;
}

/** A hook of the user. */
function heardBy(ownHook: (toolName: string) => void): PlainHook {
  return (call, run) => {
    ownHook(call.toolName);
    return run();
  };
}

/** Creates the harness of the plain framework's adapter. */
export function plainHarness(fault: Fault = {}): AdapterHarness {
  return {
    framework: 'plain',
    sdk: '@example/plain/1.0.0',
    abilities: {
      ...fullAbilities,
      streams: false,
      maxDenials: 'caller',
      origins: { user: true, system: true, results: true },
    },
    run(scenario) {
      const { adapter, isInstalledTwice, ownHook } = scenario;
      const installed = adapter
        ? Array.from({ length: isInstalledTwice ? 2 : 1 }, () => plainActlog(adapter, fault))
        : [];
      const own = ownHook ? [heardBy(ownHook)] : [];
      return runAgent(scenario, [...installed, ...own]);
    },
  };
}

/** Returns `true` for an error of a denied call. */
export const isDenied = ActionDeniedError.isInstance;
