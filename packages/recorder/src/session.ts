import { AsyncLocalStorage } from 'node:async_hooks';
import { processWide } from './process-wide.ts';
import type { ToolCall, ToolCallFacts } from './tool-call.ts';

const storage = processWide('@actlog/recorder/session', () => new AsyncLocalStorage<string>());

/** As `prepareCalls` does for calls. */
export function prepareSessions(): void {
  storage().run('', () => {});
}

/** The id of the session within whose `run` this is called. */
export function currentSessionId(): string | undefined {
  return storage().getStore();
}

/** Makes this the session of every call that names none and follows here, where no function can be run within it. */
export function enterSession(id: string): void {
  storage().enterWith(id);
}

/** What a session passes its calls on to. */
export interface SessionRecorder {
  toolCall<Result>(call: ToolCall, run: () => Result | Promise<Result>): Promise<Result>;
  record(facts: ToolCallFacts): string;
}

/** One conversation or run of an agent: the calls that are recorded through it carry its id. */
export class Session {
  /** The session's id: the caller's own, or a UUID. */
  readonly id: string;
  readonly #recorder: SessionRecorder;

  constructor(id: string, recorder: SessionRecorder) {
    this.id = id;
    this.#recorder = recorder;
  }

  /** Runs a function in which this is the session of every call that names none, also after an `await`. */
  run<Result>(fn: () => Result): Result {
    return storage().run(this.id, fn);
  }

  /** `recorder.toolCall` in this session. */
  toolCall<Result>(call: ToolCall, run: () => Result | Promise<Result>): Promise<Result> {
    return this.#recorder.toolCall({ ...call, sessionId: this.id }, run);
  }

  /** `recorder.record` in this session. */
  record(facts: ToolCallFacts): string {
    return this.#recorder.record({ ...facts, sessionId: this.id });
  }
}
