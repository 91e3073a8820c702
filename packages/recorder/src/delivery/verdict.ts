import type { SendResult } from './send-result.ts';

/** Meaning of a send result for the event and for those behind it. */
export type Verdict =
  /** The service has stored the event. */
  | { readonly kind: 'delivered' }
  /** The service throttles. */
  | { readonly kind: 'throttled'; readonly reason: string }
  /** The service has no room for the event's new session or agent; other events pass. */
  | { readonly kind: 'no-room'; readonly reason: string }
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
