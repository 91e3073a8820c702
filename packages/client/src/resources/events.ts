import { type EventAck, schemaVersion, type ToolCallPayload, type toolCallCategory } from '@actlog/protocol';
import type { Answer } from '../answer.ts';
import type { Caller } from '../caller.ts';
import { mintEventId } from '../event-id.ts';
import type { RequestOptions } from '../request-options.ts';
import type { RequestPromise } from '../request-promise.ts';

/** An event as a caller gives it: what can be filled in may be left out. */
export interface EventInput<Category extends string = string> {
  /** UUID. Default: a new one, the same through all tries of the call. */
  readonly eventId?: string | undefined;
  /** The agent that acted. */
  readonly agentId: string;
  /** The session that the event belongs to. */
  readonly sessionId: string;
  /** When it happened: a Date, or ISO 8601 in UTC with a trailing `Z`. Default: now. */
  readonly sourceTimestamp?: string | Date | undefined;
  /** Kind of event; `tool_api` for tool calls. */
  readonly category: Category;
  /** Default: `1.0`. */
  readonly schemaVersion?: string | undefined;
  /** What happened. A tool call has exactly the fields of `ToolCallPayload`: the hash of its arguments, not them. */
  readonly payload: Category extends typeof toolCallCategory
    ? ToolCallPayload
    : Readonly<Record<string, unknown>>;
}

/** The events of agents (specification, "Event"). */
export class Events {
  readonly #caller: Caller;

  /** @internal */
  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Ingests an event: `POST /v1/events`. The `eventId` makes it safe to send again, so a broken connection is
   * retried too.
   *
   * @throws ActlogError As every call does.
   */
  create<const Category extends string>(
    event: EventInput<Category>,
    options?: RequestOptions,
  ): RequestPromise<EventAck> {
    const { eventId, agentId, sessionId, sourceTimestamp, category, schemaVersion: version, payload } = event;
    const at = sourceTimestamp ?? new Date();
    // No `instanceof`: a Date may come from another realm.
    if (typeof at !== 'string' && !Number.isFinite(at.getTime?.())) {
      return this.#caller.refuse('sourceTimestamp is no valid Date or text.');
    }
    const body = {
      eventId: eventId ?? mintEventId(),
      agentId,
      sessionId,
      sourceTimestamp: typeof at === 'string' ? at : at.toISOString(),
      category,
      schemaVersion: version ?? schemaVersion,
      payload,
    };
    return this.#caller.call('events.create', { body, options }, checkAcknowledgement);
  }
}

/** The one answer whose fields the specification fixes. */
function checkAcknowledgement(body: Record<string, unknown>, answer: Answer): void {
  if (
    typeof body.eventId !== 'string' ||
    typeof body.receivedAt !== 'string' ||
    !Array.isArray(body.warnings)
  ) {
    throw answer.shapeError('no eventId, receivedAt or warnings');
  }
}
