import { hash as digest } from 'node:crypto';
import type { ArgumentOrigins } from '@actlog/protocol';
import { processSecret } from '../lib/process-wide.ts';
import { detached, timers } from '../lib/timers.ts';
import type { Reporter } from '../reporting/reporter.ts';
import { OriginTracker, type Trace, type TracedCall } from './origin-tracker.ts';
import type { OriginsSettings } from './origins-options.ts';

/** Author of text that did not come from a tool: the user, or the developer who wrote the system prompt. */
export type TextAuthor = 'user' | 'system';

/** Traces where the arguments of calls came from, session by session. Its methods never throw. */
export class SessionOrigins {
  readonly #settings: OriginsSettings;
  readonly #reporter: Reporter;
  /** Trackers by session, least recently used first. */
  readonly #sessions = new Map<string, OriginTracker>();
  readonly #pending = new PendingResults();
  /** Sessions that wrote a possible prompt of a sub-agent, by its digest, oldest first. */
  readonly #handedOver = new Map<string, OriginTracker>();

  constructor(settings: OriginsSettings, reporter: Reporter) {
    this.#settings = settings;
    this.#reporter = reporter;
  }

  /** Remembers what the user or the developer wrote. Ignores text that is already known. */
  noteText(sessionId: string, author: TextAuthor, text: string): void {
    this.#safely(() => {
      const tracker = this.#trackerOf(sessionId);
      if (author === 'system') tracker.systemText(text);
      else {
        const parent = this.#handedOver.get(digestOf(text));
        if (parent === undefined) tracker.userText(text);
        else {
          tracker.knowsUser = true;
          tracker.inheritedText(text, parent);
        }
      }
    });
  }

  /** Returns the origins of a call's arguments; undefined if they cannot be read. */
  trace(sessionId: string, args: unknown): Trace | undefined {
    this.#pending.finish(sessionId);
    return this.#safely(() => {
      const tracker = this.#trackerOf(sessionId);
      this.#rememberHandedOver(tracker, args);
      return tracker.trace(args);
    });
  }

  /** Remembers the strings that a call passes to a tool, because a sub-agent gets one of them as its prompt. */
  #rememberHandedOver(tracker: OriginTracker, args: unknown): void {
    if (typeof args !== 'object' || args === null) return;
    for (const value of Object.values(args)) {
      if (typeof value !== 'string' || value.length < shortestPrompt) continue;
      if (value.length > longestPrompt || tracker.isUserText(value)) continue;
      if (this.#handedOver.size >= mostHandedOver)
        this.#handedOver.delete(this.#handedOver.keys().next().value as string);
      this.#handedOver.set(digestOf(value), tracker);
    }
  }

  /**
   * Remembers what a call returned, before the next call of the session at the latest.
   *
   * @param result - returns the result; it may throw
   */
  rememberResult(sessionId: string, call: TracedCall, result: () => unknown, trace: Trace | undefined): void {
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

/** Shortest text that counts as handed over, and the longest, in characters. */
const shortestPrompt = 24;
const longestPrompt = 64 * 1024;
const mostHandedOver = 64;

function digestOf(text: string): string {
  return digest('sha256', `${processSecret()}${text.trim()}`, 'base64').slice(0, 22);
}

/** `true` if there are any origins to report. */
export function hasOrigins(origins: ArgumentOrigins): boolean {
  for (const _ in origins) return true;
  return false;
}

/** Maximum time to read results in one turn of the event loop, in milliseconds. */
const turnMs = 4;

/** Reads results after the call that returned them, so that the agent does not wait for it. */
class PendingResults {
  /** Functions that still have to read a result, by session, oldest first. */
  readonly #bySession = new Map<string, (() => void)[]>();
  #isScheduled = false;

  /** Reads later, before {@link finish} of the session at the latest. */
  add(sessionId: string, read: () => void): void {
    const waiting = this.#bySession.get(sessionId);
    if (waiting === undefined) this.#bySession.set(sessionId, [read]);
    else waiting.push(read);
    this.#schedule();
  }

  /** Reads all pending results of a session now. */
  finish(sessionId: string): void {
    const waiting = this.#bySession.get(sessionId);
    if (waiting === undefined) return;
    this.#bySession.delete(sessionId);
    for (const read of waiting) read();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    detached(() => timers.setImmediate(() => this.#turn()));
  }

  #turn(): void {
    this.#isScheduled = false;
    const endsAt = timers.now() + turnMs;
    for (const [sessionId, waiting] of this.#bySession) {
      for (let read = waiting.shift(); read !== undefined; read = waiting.shift()) {
        read();
        if (timers.now() >= endsAt) {
          if (waiting.length === 0) this.#bySession.delete(sessionId);
          if (this.#bySession.size > 0) this.#schedule();
          return;
        }
      }
      this.#bySession.delete(sessionId);
    }
  }
}
