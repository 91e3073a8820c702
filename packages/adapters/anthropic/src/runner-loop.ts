import { AsyncLocalStorage } from 'node:async_hooks';
import type { ActionDeniedError } from '@actlog/recorder';
import {
  type AdapterCalls,
  isOfUser,
  type Method,
  MethodHooks,
  processWide,
  RunDenials,
} from '@actlog/recorder/adapter';
import { BetaToolRunner } from '@anthropic-ai/sdk/lib/tools/BetaToolRunner';

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
export class RunnerLoop {
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
export function hookToolRunner(): void {
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
