import { type OriginKey, originKey } from './delivery/origin.ts';
import { QueuedEvent } from './delivery/queued-event.ts';
import { type EventFields, eventBody } from './event-body.ts';
import { toIdentifier } from './identifier.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { Reporter } from './reporter.ts';
import { isResponseStatus, responseStatuses } from './response-status.ts';
import type { ToolCall } from './tool-call.ts';

/** What an {@link EventRecorder} works with. */
export interface EventRecorderOptions {
  readonly agentId: string;
  readonly agentVersion: string | undefined;
  readonly framework: string | undefined;
  readonly sdk: string | undefined;
  /** Undefined when nothing is configured to send to. */
  readonly outbox: Outbox | undefined;
  readonly reporter: Reporter;
  /** Called after every event. */
  readonly onRecorded: () => void;
}

/** Whose call an event tells of. */
type EventSource = Pick<ToolCall, 'agentId' | 'toolName' | 'framework' | 'sdk'>;

/** What it tells of the call. */
type EventFacts = Pick<EventFields, 'argumentsHash' | 'sessionId' | 'responseStatus' | 'sourceTimestamp'>;

/** Makes events that the service takes, and hands them to the outbox. */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #originKeys = new Map<string, OriginKey>();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  add(eventId: string, nowMs: number, source: EventSource, facts: EventFacts): void {
    const { outbox } = this.#options;
    if (!outbox) return;
    const responseStatus = this.#sendableStatus(facts.responseStatus);
    const sessionId = toIdentifier(facts.sessionId, 'session');
    const body = eventBody({
      ...facts,
      responseStatus,
      eventId,
      sessionId,
      agentId: toIdentifier(source.agentId ?? this.#options.agentId, 'agent'),
      toolName: toIdentifier(source.toolName, 'unknown'),
    });
    const isImportant = responseStatus >= 400;
    const origin = this.#originKey(source.framework, source.sdk);
    outbox.add(new QueuedEvent({ eventId, sessionId, isImportant, body, originKey: origin }), nowMs);
    this.#options.onRecorded();
  }

  /** Any other number would be no JSON, or be refused. */
  #sendableStatus(status: unknown): number {
    if (isResponseStatus(status)) return status;
    const problem = `A responseStatus must be a 32-bit integer, and is ${describe(status)}: 500 was recorded.`;
    this.#options.reporter.failed('response-status', new TypeError(problem));
    return responseStatuses.threw;
  }

  #originKey(framework = this.#options.framework ?? '', sdk = this.#options.sdk ?? ''): OriginKey {
    const name = `${framework}\n${sdk}`;
    let key = this.#originKeys.get(name);
    if (key === undefined) {
      const { agentVersion } = this.#options;
      key = originKey({ framework: framework || undefined, sdk: sdk || undefined, agentVersion });
      this.#originKeys.set(name, key);
    }
    return key;
  }
}

function describe(value: unknown): string {
  return typeof value === 'number' ? String(value) : `of type ${typeof value}`;
}
