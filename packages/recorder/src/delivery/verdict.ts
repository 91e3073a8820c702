import type { Answer } from './answer.ts';

/** What an answer means for the event and for those behind it. */
export type Verdict =
  /** The service has it. */
  | { readonly kind: 'delivered' }
  /** The service asks for a slower pace. */
  | { readonly kind: 'throttled'; readonly reason: string }
  /** The service has no room for the session that the event would begin; events of others pass. */
  | { readonly kind: 'no-room'; readonly reason: string }
  /** Nothing gets through: the network, a gateway or the whole service. */
  | { readonly kind: 'outage'; readonly reason: string }
  /** Nothing will get through until someone mends the key or the address. */
  | { readonly kind: 'misconfigured'; readonly reason: string }
  /** The service failed at this event, and perhaps only at this one. */
  | { readonly kind: 'fault'; readonly reason: string }
  /** The service will never take this event. */
  | { readonly kind: 'refused'; readonly reason: string };

/** The answer to an event that the service has taken (specification, "POST /v1/events"). */
export const acceptedStatus = 202;
/** Statuses that say something about the key or the address, not about the event. */
const configurationStatuses = new Set([401, 402, 403, 404, 405, 406, 407, 421, 426, 431]);
const outageStatuses = new Set([408, 425, 502, 503, 504, 521, 522, 523, 524, 530]);
/** Causes can go in a circle. */
const maxDepth = 5;

/** An envelope that goes on beyond what was read of it. */
const beginningOfEnvelope = /^\s*\{\s*"error"\s*:\s*\{\s*"code"\s*:\s*"(\w+)"/;

/** Judges an answer by its status (specification, "Errors"; RFC 9110, section 15). */
export function judge(answer: Answer): Verdict {
  const { status } = answer;
  if (status === undefined) {
    return { kind: 'outage', reason: answer.error ? describe(answer.error) : 'no answer' };
  }
  if (status === acceptedStatus) return { kind: 'delivered' };
  if (status >= 200 && status < 300) {
    // So answers a web page that stands at a wrong address, or before the service, and it has stored nothing.
    if (isAcknowledgement(answer.body)) return { kind: 'delivered' };
    return { kind: 'misconfigured', reason: `HTTP ${status} without an acknowledgement` };
  }
  const error = envelopeError(answer.body);
  const reason = `HTTP ${status}${textOf(error)}`;
  if (status === 429) return { kind: isAboutSession(error) ? 'no-room' : 'throttled', reason };
  if (outageStatuses.has(status)) return { kind: 'outage', reason };
  if (status >= 500) return { kind: 'fault', reason };
  if (status < 400 || configurationStatuses.has(status)) return { kind: 'misconfigured', reason };
  // Without the envelope it is a proxy that speaks, and of other things than the event: 400 is what nginx answers to
  // plain HTTP on its port for TLS, and to a client without a certificate. Its 413 is about the event's size.
  if (typeof error?.code !== 'string' && status !== 413) return { kind: 'fault', reason };
  return { kind: 'refused', reason };
}

/** Whether a body is what the service answers to an event, whatever its status. */
function isAcknowledgement(body: string | undefined): boolean {
  try {
    return typeof (JSON.parse(body ?? '') as { eventId?: unknown } | null)?.eventId === 'string';
  } catch {
    return false;
  }
}

/** Its code, which an error of `fetch` has further down; a text may hold what is not to be shown. */
function describe(error: Error): string {
  let at: unknown = error;
  for (let depth = 0; typeof at === 'object' && at !== null && depth < maxDepth; depth += 1) {
    const { code, cause, errors } = at as { code?: unknown; cause?: unknown; errors?: readonly unknown[] };
    if (typeof code === 'string') return code;
    at = cause ?? errors?.[0];
  }
  return error.name;
}

/** What the error envelope holds, as far as it is one. */
interface EnvelopeError {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly details?: unknown;
}

/** The error of the envelope; undefined when the body is something else, such as a proxy's page. */
function envelopeError(body: string | undefined): EnvelopeError | undefined {
  try {
    return (JSON.parse(body ?? '') as { error?: EnvelopeError }).error;
  } catch {
    const [, code] = beginningOfEnvelope.exec(body ?? '') ?? [];
    return code === undefined ? undefined : { code };
  }
}

/** Code and message of an error, to stand within a sentence. */
function textOf(error: EnvelopeError | undefined): string {
  const parts = [error?.code, error?.message].filter((part) => typeof part === 'string');
  return parts.length === 0 ? '' : `: ${parts.join(': ').slice(0, 500).replace(/\.$/, '')}`;
}

function isAboutSession(error: EnvelopeError | undefined): boolean {
  const details: unknown[] = Array.isArray(error?.details) ? error.details : [];
  return details.some((detail) => (detail as { path?: unknown } | null)?.path === 'sessionId');
}
