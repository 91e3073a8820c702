import { AsyncLocalStorage } from 'node:async_hooks';
import { ActionDeniedError, type ApprovedChange } from '@actlog/recorder';
import {
  type AdapterCalls,
  type HookedCall,
  isOfUser,
  type Method,
  MethodHooks,
  processWide,
  RunDenials,
  refuseOptions,
  type Wrapping,
  withMethods,
} from '@actlog/recorder/adapter';
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import type { BetaRunnableToolset } from '@anthropic-ai/sdk/lib/tools/BetaRunnableToolset';
import { BetaToolRunner } from '@anthropic-ai/sdk/lib/tools/BetaToolRunner';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import type { BetaToolUnion } from '@anthropic-ai/sdk/resources/beta';
import {
  type ActlogOptions,
  anthropicCalls,
  deniedRuns,
  isInvalidInput,
  rememberInvalidInput,
  withNotice,
} from './anthropic-calls.ts';
import { callRunner } from './call-runner.ts';
import { recordMiddleware } from './middleware.ts';
import { type RefusedInput, toolUses } from './tool-uses.ts';

/**
 * Records every call of these tools, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const runner = client.beta.messages.toolRunner({ model, max_tokens, messages, tools: actlog([weather, sendMail]) });
 * ```
 *
 * Accepts the tools of every tool runner: streamed, with `runToolsEagerly`, of a thread or of a session. For a manual
 * loop, `actlog.callRunner(functions)` creates the function that runs the calls. To record calls that reach none of your tools, use `new Anthropic({
 * middleware: [actlog.middleware()] })`.
 *
 * @returns the same tools, of the same types; those that only Anthropic can run are the same objects
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordTools & {
  /** Creates the function that runs the calls of a message in a manual loop: recorded and guarded. */
  readonly callRunner: typeof callRunner;
  /** Middleware for the client: records every tool call of its messages that nothing else records. */
  readonly middleware: typeof recordMiddleware;
} = Object.assign(recordTools, { callRunner, middleware: recordMiddleware });

/** Tools of a tool runner: runnable tools and toolsets, and those that Anthropic runs. */
type RunnerTool = BetaToolUnion | BetaRunnableTool | BetaRunnableToolset;

type Run = (...args: unknown[]) => unknown;

/** A tool or toolset that this process runs. */
interface Runnable {
  readonly run: Run;
  readonly parse?: (content: unknown) => unknown;
  /** Of toolsets: returns the result of a call in a manual loop, using `run`. */
  readonly toolResult?: Run;
  /** Undefined for toolsets: their calls carry the names of their members. */
  readonly name?: string;
}

/** Context of a tool run. */
interface RunContext {
  readonly toolUse?: { readonly id: string; readonly name: string; readonly input: unknown };
  readonly signal?: AbortSignal | null;
}

/** Wraps tools for `actlog()`: the same tools, of the same types, recorded and guarded. */
function recordTools<Tools extends readonly RunnerTool[]>(
  tools: readonly [...Tools],
  options: ActlogOptions = {},
): { -readonly [Index in keyof Tools]: Tools[Index] } {
  refuseOptions(tools, 'actlog(tools, { guard })');
  const calls = anthropicCalls(options);
  hookToolRunner();
  return tools.map((tool) => {
    const isRecorded = isRunnable(tool) && (tool.name === undefined || calls.covers(tool.name));
    return isRecorded ? wrapped(tool, calls) : tool;
  }) as { -readonly [Index in keyof Tools]: Tools[Index] };
}

function isRunnable(tool: unknown): tool is Runnable {
  return typeof (tool as Partial<Runnable> | undefined)?.run === 'function';
}

/** Wraps a tool. Replaces only `run`, `parse` and `toolResult`, and keeps everything else, including private fields. */
function wrapped(tool: Runnable, calls: AdapterCalls): Runnable {
  const run: Run = (...args) => recordRun(tool, calls, args, { wrapper: run, wrapped: tool.run });
  const parse = (content: unknown) => recordParse(tool, calls, content);
  const toolResult: Run = (...args) => tool.toolResult?.apply(recorded, args);
  const methods = { run, ...(tool.parse && { parse }), ...(tool.toolResult && { toolResult }) };
  const recorded: Runnable = withMethods(tool, methods, 'class-methods');
  return recorded;
}

async function recordRun(tool: Runnable, calls: AdapterCalls, args: unknown[], wrapping: Wrapping) {
  // A tool is run with its input and the context, a toolset with the context and the call.
  const [input, context] = (tool.name === undefined ? [undefined, args[0]] : args) as [unknown, RunContext?];
  const use = context?.toolUse;
  const toolName = use?.name ?? tool.name ?? 'unknown';
  if (!calls.covers(toolName)) return tool.run(...args);
  if (use) {
    await toolUses().caughtUp();
    toolUses().claim(use.id, calls.recorder);
  }
  const loop = RunnerLoop.current;
  const call: HookedCall = {
    toolName,
    arguments: use ? use.input : input,
    callId: use?.id,
    wrapping,
    signal: context?.signal ?? undefined,
    sessionId: (use && toolUses().find(use.id)?.sessionId) ?? loop?.sessionOf(calls, toolName, use?.id),
    // A toolset takes its input from the context of the run.
    acceptsChanges: tool.name !== undefined,
  };
  const run = (_args: unknown, change?: ApprovedChange) => {
    deniedRuns().letThrough(toolName, call.sessionId);
    loop?.letThrough(toolName);
    // The model's input is parsed again, because the tool's schema may not permit the changed one.
    return change ? changedRun(tool, args, change) : tool.run(...args);
  };
  return calls.run(call, run).catch((error: unknown) => {
    // A runner inside the tool that was ended counts as a denial, too: the model might start it again without end.
    if (use && ActionDeniedError.isInstance(error)) {
      deniedRuns().note(use.id, { toolName, arguments: use.input, denial: error });
      loop?.deny(call, error);
    }
    throwForModel(error);
  });
}

/** Runs a tool with arguments that an approver changed, and tells the model. */
async function changedRun(tool: Runnable, [, ...rest]: unknown[], change: ApprovedChange): Promise<unknown> {
  const input = tool.parse ? await tool.parse(change.arguments) : change.arguments;
  return withNotice(await tool.run(input, ...rest), change);
}

/** Records an invalid input, which never reaches `run`. */
function recordParse(tool: Runnable, calls: AdapterCalls, content: unknown): unknown {
  try {
    return tool.parse?.(content);
  } catch (error) {
    const isKnown = isInvalidInput(error); // recorded by an inner wrapper
    rememberInvalidInput(error);
    const { recorder } = calls;
    if (!isKnown) recordRefused({ toolName: tool.name ?? 'unknown', input: content, recorder, error }, calls);
    throw error;
  }
}

/** Finds the call of an input, because the tool does not receive its id. */
function recordRefused(refused: RefusedInput, calls: AdapterCalls): void {
  const { toolName, input, recorder, error } = refused;
  const ofLoop = RunnerLoop.current?.sessionOf(calls, toolName);
  const call = () => {
    const { id: callId, sessionId = ofLoop } = toolUses().claimInput(toolName, input, recorder) ?? {};
    return { toolName, arguments: input, callId, sessionId };
  };
  const outcome = { ok: false, error } as const;
  if (toolUses().areStreaming) {
    toolUses().refuse(refused);
    void toolUses()
      .caughtUp()
      .then(() => {
        if (toolUses().forget(refused)) calls.recordLate(call(), outcome);
      });
  } else calls.record(call(), outcome);
}

/**
 * Throws an error in a form that the SDK passes to the model: it prefixes all errors with `Error: ` except `ToolError`,
 * whose content it uses unchanged.
 *
 * @throws the given error, or a `ToolError` for a denial
 */
function throwForModel(error: unknown): never {
  if (!ActionDeniedError.isInstance(error)) throw error;
  throw Object.assign(new ToolError(error.message), { cause: error });
}

/** A call of a tool. */
interface RunnerCall {
  readonly toolName: string;
  readonly arguments: unknown;
}

/** The used part of a tool runner. */
interface Runner {
  readonly params: { readonly messages: readonly unknown[] };
}

const hookedMethods = new MethodHooks('@actlog/anthropic/hooked-methods');

const loops = processWide('@actlog/anthropic/loop', () => new AsyncLocalStorage<RunnerLoop>());

const known = processWide('@actlog/anthropic/loops', () => new WeakMap<object, RunnerLoop>());

/** The loop of a tool runner: one conversation with the model. Tools themselves do not receive its messages. */
class RunnerLoop {
  readonly #runner: Runner;
  readonly #sessions = new Map<object, string | undefined>();
  #denials = new RunDenials();
  /** Number of messages of the user that the denials belong to. */
  #questions = 0;
  #endedBy: ActionDeniedError | undefined;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  /** Loop in which code runs. */
  static get current(): RunnerLoop | undefined {
    return loops().getStore();
  }

  /** Returns the loop of a runner. */
  static of(runner: Runner): RunnerLoop {
    const loop = known().get(runner) ?? new RunnerLoop(runner);
    known().set(runner, loop);
    return loop;
  }

  /** Denial that ends the loop, if the model has repeated a denied call too often. */
  get endedBy(): ActionDeniedError | undefined {
    return this.#endedBy;
  }

  /** Runs a function as part of the loop. */
  within<Result>(run: () => Result): Result {
    return loops().run(this, run);
  }

  /** Returns the session of the loop's conversation, and makes later turns recognizable by a call. */
  sessionOf(
    { recorder, conversations }: AdapterCalls,
    toolName: string,
    callId?: string,
  ): string | undefined {
    const messages = this.#messages();
    const sessionId = this.#sessions.get(recorder) ?? conversations.sessionOf(messages);
    this.#sessions.set(recorder, sessionId);
    if (callId !== undefined) conversations.note(messages, { toolName, callId }, sessionId);
    return sessionId;
  }

  #messages(): readonly unknown[] | undefined {
    try {
      return this.#runner.params.messages;
    } catch {
      return undefined; // the calls are recorded in the recorder's session
    }
  }

  /** Counts a denied call since the last message of the user, because a chat may have one runner. */
  deny(call: RunnerCall, denial: ActionDeniedError): void {
    const questions = (this.#messages() ?? []).filter(isOfUser).length;
    if (questions !== this.#questions) this.#denials = new RunDenials();
    this.#questions = questions;
    if (this.#denials.count(call)) this.#endedBy = denial;
  }

  /** Resets the denials of a tool after an allowed call. */
  letThrough(toolName: string): void {
    this.#denials.letThrough(toolName);
  }
}

/** Hooks the SDK's tool runner once, so that its tools know the loop that they run in. */
function hookToolRunner(): void {
  const { prototype } = BetaToolRunner;
  hookedMethods.hook(prototype, 'generateToolResponse', (runner: Runner, generate: Method, args) =>
    RunnerLoop.of(runner).within(() => generate.apply(runner, args)),
  );
  hookedMethods.hook(prototype, Symbol.asyncIterator, (runner: Runner, iterate: Method<Steps>, args) => {
    const loop = new RunnerLoop(runner);
    known().set(runner, loop);
    const steps = iterate.apply(runner, args);
    const next = steps.next.bind(steps);
    steps.next = async () => {
      if (loop.endedBy) return steps.throw(loop.endedBy); // so that the runner itself rejects, too
      const step = await loop.within(next);
      if (isStream(step.value)) readWithin(loop, step.value);
      return step;
    };
    return steps;
  });
}

/** Steps of a loop: messages, or their streams. */
type Steps = AsyncGenerator<unknown, void, undefined>;

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return (
    typeof (value as Partial<AsyncIterable<unknown>> | null | undefined)?.[Symbol.asyncIterator] ===
    'function'
  );
}

/** Makes a stream's reader part of the loop: with `runToolsEagerly`, a tool may start when it reads the next event. */
function readWithin(loop: RunnerLoop, stream: AsyncIterable<unknown>): void {
  const iterate = stream[Symbol.asyncIterator].bind(stream);
  const value = () => {
    const reader = iterate();
    const next = reader.next.bind(reader);
    reader.next = () => loop.within(next);
    return reader;
  };
  Object.defineProperty(stream, Symbol.asyncIterator, { configurable: true, writable: true, value });
}
