import { channel } from 'node:diagnostics_channel';
import type { DropReason } from './drop-reason.ts';

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
