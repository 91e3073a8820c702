import type { ArgumentOrigins } from '@actlog/protocol';
import type { Reporter } from '../reporting/reporter.ts';
import { OriginTracker, type Trace, type TracedCall } from './origin-tracker.ts';
import type { OriginsSettings } from './origins-options.ts';
import { PendingResults } from './pending-results.ts';

/** Author of a text that is not a tool's: the user, or whoever wrote the system prompt. */
export type TextAuthor = 'user' | 'system';

/** Finds out where the arguments of calls came from, session by session. Nothing in here throws. */
export class SessionOrigins {
  readonly #settings: OriginsSettings;
  readonly #reporter: Reporter;
  /** Trackers by session, the one used last at the end. */
  readonly #sessions = new Map<string, OriginTracker>();
  readonly #pending = new PendingResults();

  constructor(settings: OriginsSettings, reporter: Reporter) {
    this.#settings = settings;
    this.#reporter = reporter;
  }

  /** Remembers a text that the user or the developer wrote. A text that is known already makes no difference. */
  noteText(sessionId: string, author: TextAuthor, text: string): void {
    this.#safely(() => {
      const tracker = this.#trackerOf(sessionId);
      if (author === 'user') tracker.userText(text);
      else tracker.systemText(text);
    });
  }

  /** Returns the origins of a call's arguments; undefined if they cannot be read. */
  trace(sessionId: string, args: unknown): Trace | undefined {
    this.#pending.finish(sessionId);
    return this.#safely(() => this.#trackerOf(sessionId).trace(args));
  }

  /**
   * Remembers what a call returned, before the next call of the session at the latest.
   *
   * @param result - returns the result; it may throw
   */
  noteResult(sessionId: string, call: TracedCall, result: () => unknown, trace: Trace | undefined): void {
    this.#pending.add(sessionId, () => {
      this.#safely(() => this.#trackerOf(sessionId).result(call, result(), trace));
    });
  }

  #trackerOf(sessionId: string): OriginTracker {
    const known = this.#sessions.get(sessionId);
    if (known !== undefined) this.#sessions.delete(sessionId);
    const tracker = known ?? new OriginTracker(this.#settings.maxSessionBytes);
    this.#sessions.set(sessionId, tracker);
    if (this.#sessions.size > this.#settings.maxSessions) {
      const [longestUnused] = this.#sessions.keys();
      this.#sessions.delete(longestUnused as string);
    }
    return tracker;
  }

  #safely<Value>(run: () => Value): Value | undefined {
    try {
      return run();
    } catch {
      // The error could quote an argument.
      this.#reporter.failed('origins', new Error('The origins of arguments could not be found out.'));
      return undefined;
    }
  }
}

/** `true` if there is anything to report of a call. */
export function hasOrigins(origins: ArgumentOrigins): boolean {
  for (const _ in origins) return true;
  return false;
}
