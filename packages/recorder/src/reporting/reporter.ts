import { identityOf } from '../events/event-body.ts';
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

/** Counts of a recorder since it was created, and its current backlog. */
export interface RecorderStats {
  /** Events that this recorder accepted. */
  readonly recorded: number;
  /** Events taken over from the spool folder, of processes that ended before they could deliver them. */
  readonly adopted: number;
  /** Events acknowledged by the service. */
  readonly delivered: number;
  /** Events that are not yet delivered, dropped or dead-lettered. */
  readonly pending: number;
  /** Pending events that are on disk and survive the end of the process. */
  readonly spooled: number;
  /** Lost events: the sum of `droppedByReason`. */
  readonly dropped: number;
  readonly droppedByReason: Readonly<Record<DropReason, number>>;
  /** Events that the service rejected permanently, now in the dead-letter file. */
  readonly deadLettered: number;
  /** Events about argument origins that were left out because the service does not take them. */
  readonly omitted: number;
  /** Failed attempts that were or will be repeated. */
  readonly retried: number;
  /** Journal records with a wrong checksum: the torn last record of a killed process, or a damaged disk. */
  readonly unreadable: number;
  /** Size of the journal in bytes. */
  readonly spoolBytes: number;
  /** Age of the oldest event that waits in memory, in milliseconds; 0 if there is none. */
  readonly lagMs: number;
  /** Calls that the guard allowed, denied and could not check. */
  readonly guard: { readonly allowed: number; readonly denied: number; readonly unavailable: number };
}

/** Counters behind {@link RecorderStats}. */
export class Counters {
  recorded = 0;
  adopted = 0;
  delivered = 0;
  deadLettered = 0;
  omitted = 0;
  retried = 0;
  unreadable = 0;
  readonly droppedByReason: Record<DropReason, number> = { full: 0, closed: 0, refused: 0 };
  readonly guard = { allowed: 0, denied: 0, unavailable: 0 };

  /** Total of lost events, for any reason. */
  get dropped(): number {
    const { full, closed, refused } = this.droppedByReason;
    return full + closed + refused;
  }
}
