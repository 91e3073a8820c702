import { AsyncLocalStorage } from 'node:async_hooks';
import type { ToolCall, ToolCallFacts } from '../events/tool-call.ts';
import { processWide } from '../lib/process-wide.ts';
import type { TextAuthor } from '../origins/session-origins.ts';

const storage = processWide('@actlog/recorder/session', () => new AsyncLocalStorage<string>());

/** Does the same as `prepareCalls` for sessions. */
export function prepareSessions(): void {
  storage().run('', () => {});
}

/** Returns the id of the session whose `run` is active. */
export function currentSessionId(): string | undefined {
  return storage().getStore();
}

/**
 * Makes this the session of all following calls without one in the current async context, where no function can be
 * wrapped.
 */
export function enterSession(id: string): void {
  storage().enterWith(id);
}

/** Receiver of a session's calls. */
export interface SessionRecorder {
  toolCall<Result>(call: ToolCall, run: () => Result | Promise<Result>): Promise<Result>;
  record(facts: ToolCallFacts): string;
  noteText(author: TextAuthor, text: string, sessionId?: string): void;
}

/** One conversation or run of an agent: calls recorded through it carry its id. */
export class RecorderSession {
  /** Id of the session: the caller's own, or a UUID. */
  readonly id: string;
  readonly #recorder: SessionRecorder;

  constructor(id: string, recorder: SessionRecorder) {
    this.id = id;
    this.#recorder = recorder;
  }

  /** Runs a function in which this is the session of all calls without one, also after an `await`. */
  run<Result>(fn: () => Result): Result {
    return storage().run(this.id, fn);
  }

  /** Calls `recorder.toolCall` in this session. */
  toolCall<Result>(call: ToolCall, run: () => Result | Promise<Result>): Promise<Result> {
    return this.#recorder.toolCall({ ...call, sessionId: this.id }, run);
  }

  /** Calls `recorder.record` in this session. */
  record(facts: ToolCallFacts): string {
    return this.#recorder.record({ ...facts, sessionId: this.id });
  }

  /**
   * Tells the recorder what the user said in this session, for `origins`: arguments that stand in it came from the user.
   * A text that was passed before makes no difference, so the whole conversation may be passed each time.
   */
  userText(text: string): void {
    this.#recorder.noteText('user', text, this.id);
  }

  /** Does the same for the system prompt, or another text that the developer wrote. */
  systemText(text: string): void {
    this.#recorder.noteText('system', text, this.id);
  }
}
