import { identityOf } from '../events/event-body.ts';
import type { Counters } from './counters.ts';
import { publish } from './diagnostics.ts';
import type { DroppedEvent, DropReason } from './drop-reason.ts';

/** User callbacks for drops and errors. */
export interface ReporterOptions {
  readonly onDrop?: ((dropped: DroppedEvent) => void) | undefined;
  readonly onError?: ((error: Error) => void) | undefined;
}

/** Reports every drop and every error to the user callbacks, or to the console once per kind. */
export class Reporter {
  readonly #options: ReporterOptions;
  readonly #counters: Counters;
  readonly #warned = new Set<string>();

  constructor(options: ReporterOptions, counters: Counters) {
    this.#options = options;
    this.#counters = counters;
  }

  /** Counts and reports a lost event. */
  dropped(body: string, reason: DropReason): void {
    this.#counters.droppedByReason[reason] += 1;
    this.#warnOnce(
      `drop-${reason}`,
      `events are being lost (${reason}). Pass onDrop to be notified of each; see "Delivery" in the README of @actlog/recorder.`,
      this.#options.onDrop !== undefined,
    );
    publish('dropped', () => {
      const { eventId, sessionId } = identityOf(body);
      return { eventId, sessionId, reason };
    });
    const { onDrop } = this.#options;
    if (onDrop) this.#callSafely(() => onDrop({ event: JSON.parse(body), reason }));
  }

  /**
   * Reports an error that the user can fix.
   *
   * @param kind - one console warning is shown per kind, unless there is an `onError`
   */
  failed(kind: string, error: Error): void {
    this.#warnOnce(kind, error.message, this.#options.onError !== undefined);
    const { onError } = this.#options;
    if (onError) this.#callSafely(() => onError(error));
  }

  /** Calls a user callback. Its errors must not reach the agent. */
  #callSafely(callback: () => unknown): void {
    try {
      const returned = callback();
      // An async function is also assignable to this type, and its rejection would end the process.
      if (returned instanceof Promise) returned.catch((error: unknown) => this.#callbackThrew(error));
    } catch (error) {
      this.#callbackThrew(error);
    }
  }

  #callbackThrew(error: unknown): void {
    const thrown = error instanceof Error ? error.name : 'a value';
    this.#warnOnce('callback', `onDrop or onError threw: ${thrown}.`);
  }

  #warnOnce(kind: string, message: string, isHandled = false): void {
    if (isHandled || this.#warned.has(kind)) return;
    this.#warned.add(kind);
    console.warn(`[actlog] ${message}`);
  }
}
