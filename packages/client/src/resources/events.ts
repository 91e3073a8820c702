import { type EventAck, schemaVersion, type ToolCallPayload, type toolCallCategory } from '@actlog/protocol';
import { invalidValue } from '../errors/actlog-error.ts';
import { createEventId, type EndpointCaller } from '../request/endpoint-caller.ts';
import type { RequestOptions } from '../request/request-options.ts';
import type { RequestPromise } from '../request/request-promise.ts';
import type { ApiResponse } from '../response/api-response.ts';

/** An event to be recorded. Fields with a default may be omitted. */
export interface EventInput<Category extends string = string> {
  /** UUID of the event. Default: a new one, the same for all attempts of the call. */
  readonly eventId?: string | undefined;
  /** Agent that acted. */
  readonly agentId: string;
  /** Session that the event belongs to. */
  readonly sessionId: string;
  /** Time of the event: a Date, or ISO 8601 in UTC with a trailing `Z`. Default: now. */
  readonly sourceTimestamp?: string | Date | undefined;
  /** Kind of event; `tool_api` for tool calls. */
  readonly category: Category;
  /** Version of the event schema. Default: `1.0`. */
  readonly schemaVersion?: string | undefined;
  /**
   * Content of the event. For a tool call, exactly the fields of `ToolCallPayload`, with the hash of its arguments
   * instead of the arguments.
   */
  readonly payload: Category extends typeof toolCallCategory
    ? ToolCallPayload
    : Readonly<Record<string, unknown>>;
}

/** Events of agents (specification, "Event"). */
export class Events {
  readonly #caller: EndpointCaller;

  /** @internal */
  constructor(caller: EndpointCaller) {
    this.#caller = caller;
  }

  /**
   * Records an event: `POST /v1/events`. The `eventId` makes repeating it safe, so it is also retried after a broken
   * connection.
   *
   * @throws ActlogError Under the same conditions as any call.
   *
   * @example
   * ```ts
   * const { eventId, warnings } = await client.events.create({
   *   agentId: 'billing',
   *   sessionId: 'invoice-1042',
   *   category: 'tool_api',
   *   payload: { toolName: 'send_invoice', argumentsHash: 'sha256:9f86d081884c7d65', responseStatus: 200 },
   * });
   * ```
   */
  create<const Category extends string>(
    event: EventInput<Category>,
    options?: RequestOptions,
  ): RequestPromise<EventAck> {
    const { eventId, agentId, sessionId, sourceTimestamp, category, schemaVersion: version, payload } = event;
    const at = sourceTimestamp ?? new Date();
    // Avoid `instanceof`, because the Date may come from another realm.
    if (typeof at !== 'string' && !Number.isFinite(at.getTime?.())) {
      return this.#caller.refuse(invalidValue('sourceTimestamp', 'a valid Date or an ISO 8601 string', at));
    }
    const body = {
      eventId: eventId ?? createEventId(),
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

/** Checks the only response whose fields the specification fixes. */
function checkAcknowledgement(body: Record<string, unknown>, response: ApiResponse): void {
  if (
    typeof body.eventId !== 'string' ||
    typeof body.receivedAt !== 'string' ||
    !Array.isArray(body.warnings)
  ) {
    throw response.shapeError('no eventId, receivedAt or warnings');
  }
}
