import type { QueuedEvent } from './session-queues.ts';

/**
 * Number of failures of one event, while the service accepts others in between, after which the event is rejected
 * permanently.
 */
const maxStrikes = 10;
/**
 * Number of distinct failing events, without a success in between, that count as an outage rather than a problem of
 * those events.
 */
const faultyEventsOfAnOutage = 3;

/**
 * Tracks events that the service fails on (500 and the like), to tell a problem of the event from a problem of the
 * service.
 */
export class Faults {
  /** Failed events since the last success. */
  readonly #events = new Set<QueuedEvent>();

  /** `true` if the service has failed since it last accepted an event. */
  get areOpen(): boolean {
    return this.#events.size > 0;
  }

  /** `true` if so many events fail that the service itself has a problem. */
  get areOutage(): boolean {
    return this.#events.size >= faultyEventsOfAnOutage;
  }

  /**
   * Counts a failure of the service on an event.
   *
   * @param delivered - total number of delivered events; if it has grown between two failures of an event, the event is
   * the problem
   * @returns `true` if the service will never accept the event
   */
  add(event: QueuedEvent, delivered: number): boolean {
    this.#events.add(event);
    event.faults += 1;
    if (delivered > event.deliveredAtFault) event.strikes += 1;
    event.deliveredAtFault = delivered;
    return event.strikes >= maxStrikes;
  }

  /** Forgets an event that has left the queue. */
  remove(event: QueuedEvent): void {
    if (event.faults > 0) this.#events.delete(event);
  }

  /** Forgets all failures after a success. */
  clear(): void {
    // Clearing even an empty set allocates a new table.
    if (this.#events.size > 0) this.#events.clear();
  }

  /** Returns the delay before a failed event is sent again, in milliseconds. */
  static delayMs({ faults }: QueuedEvent): number {
    return Math.min(30_000, 100 * 2 ** Math.min(faults, 10)) * (0.5 + Math.random() / 2);
  }
}

/** Result of sending one event. */
export interface SendResult {
  /** HTTP status; undefined if no response arrived. */
  readonly status?: number | undefined;
  /** Value of the `Retry-After` header. */
  readonly retryAfter?: string | undefined;
  /** Start of the response body, unless the status is 202. */
  readonly body?: string | undefined;
  /** Error that prevented a response. */
  readonly error?: Error | undefined;
}

/** Sends events. Every call of `send` leads to exactly one call of `done`. */
export interface EventSender {
  /** Sends a body with the headers of its origin. Never throws. */
  send(body: string, headers: Readonly<Record<string, string>>, done: (result: SendResult) => void): void;
  /**
   * Aborts all requests in flight, each of which ends with an error, and closes the transport's own connections. No
   * calls may follow.
   */
  abort(): void;
}

/** Maximum number of bytes read of an error response; its code and message are at the start. */
export const maxErrorBodyBytes = 16 * 1024;

/** Meaning of a send result for the event and for those behind it. */
export type Verdict =
  /** The service has stored the event. */
  | { readonly kind: 'delivered' }
  /** The service throttles. */
  | { readonly kind: 'throttled'; readonly reason: string }
  /** The service has no room for the event's new session or agent; other events pass. */
  | { readonly kind: 'no-room'; readonly reason: string }
  /** The caller may not act as the event's agent; events of other agents pass. */
  | { readonly kind: 'other-agent'; readonly reason: string }
  /** Nothing gets through: a failure of the network, a gateway or the whole service. */
  | { readonly kind: 'outage'; readonly reason: string }
  /** Nothing gets through until the key or the address is fixed. */
  | { readonly kind: 'misconfigured'; readonly reason: string }
  /** The service failed on this event, and perhaps only on this one. */
  | { readonly kind: 'fault'; readonly reason: string }
  /** The service will never accept this event. */
  | { readonly kind: 'refused'; readonly reason: string };

/** Status of an accepted event (specification, "POST /v1/events"). */
export const acceptedStatus = 202;
/** Statuses that indicate a problem with the key or the address, not with the event. */
const configurationStatuses = new Set([401, 402, 403, 404, 405, 406, 407, 421, 426, 431]);
const outageStatuses = new Set([408, 425, 502, 503, 504, 521, 522, 523, 524, 530]);
/** Maximum depth of causes, which may be circular. */
const maxDepth = 5;

/** Matches the start of an error envelope that was read only in part. */
const beginningOfEnvelope = /^\s*\{\s*"error"\s*:\s*\{\s*"code"\s*:\s*"(\w+)"/;

/** Classifies a result by its status (specification, "Errors"; RFC 9110, section 15). */
export function judge(result: SendResult): Verdict {
  const { status } = result;
  if (status === undefined) {
    return { kind: 'outage', reason: result.error ? describe(result.error) : 'no response' };
  }
  if (status === acceptedStatus) return { kind: 'delivered' };
  if (status >= 200 && status < 300) {
    // A web page at a wrong address, or in front of the service, may return such a status without storing the event.
    if (isAcknowledgement(result.body)) return { kind: 'delivered' };
    return { kind: 'misconfigured', reason: `HTTP ${status} without an acknowledgement` };
  }
  const error = envelopeError(result.body);
  const reason = `HTTP ${status}${textOf(error)}`;
  if (status === 429) return { kind: isAboutSession(error) ? 'no-room' : 'throttled', reason };
  if (status === 403 && isAboutSession(error)) return { kind: 'other-agent', reason };
  if (outageStatuses.has(status)) return { kind: 'outage', reason };
  if (status >= 500) return { kind: 'fault', reason };
  if (status < 400 || configurationStatuses.has(status)) return { kind: 'misconfigured', reason };
  // Without the envelope, the response is from a proxy and not about the event: nginx returns 400 for plain HTTP on its
  // TLS port and for a missing client certificate. Its 413 is about the event's size.
  if (typeof error?.code !== 'string' && status !== 413) return { kind: 'fault', reason };
  return { kind: 'refused', reason };
}

/** Returns `true` if a body acknowledges an event, whatever the status. */
function isAcknowledgement(body: string | undefined): boolean {
  try {
    return typeof (JSON.parse(body ?? '') as { eventId?: unknown } | null)?.eventId === 'string';
  } catch {
    return false;
  }
}

/**
 * Returns the error code, which an error of `fetch` has in its cause. The message may contain data that must not be
 * shown.
 */
function describe(error: Error): string {
  let at: unknown = error;
  for (let depth = 0; typeof at === 'object' && at !== null && depth < maxDepth; depth += 1) {
    const { code, cause, errors } = at as { code?: unknown; cause?: unknown; errors?: readonly unknown[] };
    if (typeof code === 'string') return code;
    at = cause ?? errors?.[0];
  }
  return error.name;
}

/** Content of an error envelope, unvalidated. */
interface EnvelopeError {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly details?: unknown;
}

/** Returns the error of the envelope, or undefined if the body is something else, such as a proxy's page. */
function envelopeError(body: string | undefined): EnvelopeError | undefined {
  try {
    return (JSON.parse(body ?? '') as { error?: EnvelopeError }).error;
  } catch {
    const [, code] = beginningOfEnvelope.exec(body ?? '') ?? [];
    return code === undefined ? undefined : { code };
  }
}

/** Formats the code and message of an error for use inside a sentence. */
function textOf(error: EnvelopeError | undefined): string {
  const parts = [error?.code, error?.message].filter((part) => typeof part === 'string');
  return parts.length === 0 ? '' : `: ${parts.join(': ').slice(0, 500).replace(/\.$/, '')}`;
}

function isAboutSession(error: EnvelopeError | undefined): boolean {
  const details: unknown[] = Array.isArray(error?.details) ? error.details : [];
  return details.some((detail) => {
    const { path } = (detail ?? {}) as { path?: unknown };
    return path === 'sessionId' || path === 'agentId';
  });
}
