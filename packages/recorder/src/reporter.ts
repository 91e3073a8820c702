import type { Counters } from './counters.ts';
import { publish } from './diagnostics.ts';
import type { DroppedEvent, DropReason } from './drop-reason.ts';
import { identityOf } from './event-body.ts';

/** The user's own ears. */
export interface ReporterOptions {
  readonly onDrop?: ((dropped: DroppedEvent) => void) | undefined;
  readonly onError?: ((error: Error) => void) | undefined;
}

/** Tells the user what goes wrong: every drop and every error to the callbacks, the console once a kind. */
export class Reporter {
  readonly #options: ReporterOptions;
  readonly #counters: Counters;
  readonly #warned = new Set<string>();

  constructor(options: ReporterOptions, counters: Counters) {
    this.#options = options;
    this.#counters = counters;
  }

  /** Counts a lost event and names it. */
  dropped(body: string, reason: DropReason): void {
    this.#counters.droppedByReason[reason] += 1;
    this.#warnOnce(
      `drop-${reason}`,
      `events are being lost (${reason}). Pass onDrop to learn of each; see "Losing nothing" in the README of @actlog/recorder.`,
      this.#options.onDrop !== undefined,
    );
    publish('dropped', () => {
      const { eventId, sessionId } = identityOf(body);
      return { eventId, sessionId, reason };
    });
    const { onDrop } = this.#options;
    if (onDrop) this.#guarded(() => onDrop({ event: JSON.parse(body), reason }));
  }

  /**
   * Something is wrong that the user can mend.
   *
   * @param kind - one warning on the console for each, unless the user has an `onError`
   */
  failed(kind: string, error: Error): void {
    this.#warnOnce(kind, error.message, this.#options.onError !== undefined);
    const { onError } = this.#options;
    if (onError) this.#guarded(() => onError(error));
  }

  /** A callback of the user must not reach into the agent's path, so what it throws ends here. */
  #guarded(tell: () => unknown): void {
    try {
      const told = tell();
      // An async function is one that returns nothing, too; what it rejects with would end the process.
      if (told instanceof Promise) told.catch((error: unknown) => this.#callbackThrew(error));
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
