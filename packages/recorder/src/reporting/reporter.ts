import { channel } from 'node:diagnostics_channel';
import type { ActivityEvent } from '@actlog/protocol';
import { identityOf } from '../events/event.ts';

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

/** Messages published on {@link diagnosticsChannels}; each is a plain object with these fields. */
export interface RecorderDiagnostics {
  /** An event was accepted. `isDurable` is `true` if it is on disk. */
  readonly recorded: { readonly eventId: string; readonly sessionId: string; readonly isDurable: boolean };
  /** The service has stored the event. */
  readonly delivered: { readonly eventId: string; readonly sessionId: string };
  /** The event will be sent again. */
  readonly retried: { readonly eventId: string; readonly sessionId: string; readonly reason: string };
  /** The event is lost. */
  readonly dropped: { readonly eventId: string; readonly sessionId: string; readonly reason: DropReason };
  /** The service rejected the event permanently; it is in the dead-letter file. */
  readonly 'dead-lettered': {
    readonly eventId: string;
    readonly sessionId: string;
    readonly reason: string;
  };
  /** The guard decided about a call, or would have in mode `observe`. */
  readonly guarded: {
    readonly toolName: string;
    readonly decision: string;
    readonly isEnforced: boolean;
    readonly durationMs: number;
  };
}

/** Names of the `node:diagnostics_channel` channels of this package, by message. */
export const diagnosticsChannels = {
  recorded: 'actlog:recorder:recorded',
  delivered: 'actlog:recorder:delivered',
  retried: 'actlog:recorder:retried',
  dropped: 'actlog:recorder:dropped',
  'dead-lettered': 'actlog:recorder:dead-lettered',
  guarded: 'actlog:recorder:guarded',
} as const satisfies Record<keyof RecorderDiagnostics, string>;

const channels = {
  recorded: channel(diagnosticsChannels.recorded),
  delivered: channel(diagnosticsChannels.delivered),
  retried: channel(diagnosticsChannels.retried),
  dropped: channel(diagnosticsChannels.dropped),
  'dead-lettered': channel(diagnosticsChannels['dead-lettered']),
  guarded: channel(diagnosticsChannels.guarded),
};

/** Publishes a message, which is created only if the channel has subscribers. */
export function publish<Name extends keyof RecorderDiagnostics>(
  name: Name,
  message: () => RecorderDiagnostics[Name],
): void {
  if (channels[name].hasSubscribers) channels[name].publish(message());
}

/**
 * Reason why an event was lost:
 *
 * - `full`: memory or the journal's size limit was exhausted, and `whenFull` selected this event;
 * - `closed`: the event was only in memory when the recorder or the process ended, or was recorded after `close()`;
 * - `refused`: the service will never accept it, and no dead-letter file could store it.
 */
export type DropReason = 'full' | 'closed' | 'refused';

/** A lost event and the reason. */
export interface DroppedEvent {
  readonly event: ActivityEvent;
  readonly reason: DropReason;
}
