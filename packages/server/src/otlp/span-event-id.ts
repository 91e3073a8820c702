import { v5 } from 'uuid';

/** Namespace of the ids of events that are created from spans. */
const namespace = 'c1f3cc1c-5f9d-4a5e-9d59-0b7c3a1e9a57';

/**
 * Returns the id of a span's event: a UUID version 5 (RFC 9562, section 5.5) of the trace id and the span id, so that a
 * span that is sent again is the same event.
 */
export function spanEventId(traceId: string, spanId: string): string {
  return v5(`${traceId}-${spanId}`, namespace);
}
