import type { Actlog } from '@actlog/client';
import { parseTraceparent } from '@actlog/tool-call';
import { tenantSecret } from '../delivery/session-queues.ts';
import { isoTimestamp } from '../events/event.ts';
import type { Journal } from '../journal/journal.ts';
import { journalFolder, openJournal } from '../journal/open-journal.ts';
import { environmentVariable } from '../lib/option-checks.ts';
import { EventRecorder } from '../recording/event-recorder.ts';
import { Counters, Reporter } from '../reporting/reporter.ts';

/** Size limit of the journal of one process, in bytes. */
const maxSpoolBytes = 256 * 1024 * 1024;

/** Options of a {@link SpoolWriter}. */
export interface SpoolWriterOptions {
  /** Client of the service that the events are for. It is not connected. */
  readonly client: Actlog;
  /** Name of the agent's program, as the framework. */
  readonly framework: string;
  /** Identifier and version of the integration. */
  readonly sdk: string;
  /** Called when an event could not be written. */
  readonly onError: (error: Error) => void;
}

/** An ended call, as written to the spool. */
export interface SpooledCall {
  /** Id of the event. An event written twice under one id is stored once. */
  readonly eventId: string;
  readonly agentId: string;
  readonly sessionId: string;
  /** Name of the agent's subagent that made the call. Default: none. */
  readonly subagent?: string | undefined;
  readonly toolName: string;
  readonly argumentsHash: string;
  /** W3C `traceparent` of the call; anything else is ignored. Default: none. */
  readonly traceparent?: string | undefined;
  /** HTTP status of the outcome. */
  readonly responseStatus: number;
  /** Time at which the call ended, in Unix milliseconds. */
  readonly atMs: number;
}

/**
 * Writes events to the spool folder, from which any recorder of the same tenant delivers them. The journal is created
 * by the first event and released by `close()`; if the process is killed before, its events are taken over too.
 */
export class SpoolWriter {
  readonly #options: SpoolWriterOptions;
  readonly #reporter: Reporter;
  readonly #events: EventRecorder;
  #journal: Journal | undefined;
  /** Result of the last write. */
  #isWritten = false;
  #hasWritten = false;

  constructor(options: SpoolWriterOptions) {
    const { framework, sdk, onError } = options;
    this.#options = options;
    this.#reporter = new Reporter({ onError }, new Counters());
    this.#events = new EventRecorder({
      agentId: framework,
      agentVersion: undefined,
      framework,
      sdk,
      outbox: {
        add: (event, nowMs) => {
          this.#isWritten = this.#open()?.append(event, false, nowMs) ?? false;
        },
      },
      reporter: this.#reporter,
      onRecorded: () => {},
    });
  }

  /** `true` if an event was written. */
  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  /** Writes an event. Returns `true` if it is on disk; otherwise the error was passed to `onError`. */
  write({ eventId, atMs, agentId, toolName, subagent, traceparent, ...facts }: SpooledCall): boolean {
    this.#isWritten = false;
    const source = { agentId, toolName };
    const sourceTimestamp = isoTimestamp(atMs);
    this.#events.add(eventId, Date.now(), source, {
      ...facts,
      sourceTimestamp,
      traceparent: parseTraceparent(traceparent),
    });
    const isWritten = this.#isWritten;
    const about = { callEventId: eventId, sessionId: facts.sessionId, sourceTimestamp };
    if (isWritten) this.#events.addPlace(Date.now(), source, about, { subagent });
    this.#hasWritten ||= isWritten;
    return isWritten;
  }

  /** Leaves the written events to the next recorder. */
  close(): void {
    this.#journal?.close();
    this.#journal = undefined;
  }

  #open(): Journal | undefined {
    const { client } = this.#options;
    const secret = tenantSecret(client, environmentVariable('ACTLOG_TENANT'));
    this.#journal ??= openJournal({ maxSpoolBytes }, secret, new Counters(), this.#reporter)?.journal;
    return this.#journal;
  }
}

/**
 * Creates and returns the spool folder that recorders with the same key and address use.
 *
 * @throws UntrustedFileError when another user can change it
 * @throws the system's error when it cannot be created
 */
export function tenantSpoolFolder(client: Actlog): string {
  return journalFolder(undefined, tenantSecret(client, environmentVariable('ACTLOG_TENANT')));
}
