import type { Answer } from './answer.ts';

/** What an answer means for the event and for those behind it. */
export type Verdict =
  /** The service has it. */
  | { readonly kind: 'delivered' }
  /** The service asks for a slower pace. */
  | { readonly kind: 'throttled'; readonly reason: string }
  /** Nothing gets through: the network, a gateway or the whole service. */
  | { readonly kind: 'outage'; readonly reason: string }
  /** Nothing will get through until someone mends the key or the address. */
  | { readonly kind: 'misconfigured'; readonly reason: string }
  /** The service failed at this event, and perhaps only at this one. */
  | { readonly kind: 'fault'; readonly reason: string }
  /** The service will never take this event. */
  | { readonly kind: 'refused'; readonly reason: string };

/** Statuses that say something about the key or the address, not about the event. */
const configurationStatuses = new Set([401, 402, 403, 404, 405, 406, 407, 421, 426]);
const outageStatuses = new Set([408, 425, 502, 503, 504, 521, 522, 523, 524, 530]);

/** Judges an answer by its status (specification, "Errors"; RFC 9110, section 15). */
export function judge(answer: Answer): Verdict {
  const { status } = answer;
  if (status === undefined) {
    return { kind: 'outage', reason: answer.error ? describe(answer.error) : 'no answer' };
  }
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  const reason = `HTTP ${status}${envelopeText(answer.body)}`;
  if (status === 429) return { kind: 'throttled', reason };
  if (outageStatuses.has(status)) return { kind: 'outage', reason };
  if (status >= 500) return { kind: 'fault', reason };
  if (status < 400 || configurationStatuses.has(status)) return { kind: 'misconfigured', reason };
  return { kind: 'refused', reason };
}

function describe(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : error.name;
}

/** Code and message of the error envelope, to stand within a sentence; nothing when the body is something else, such as a proxy's page. */
function envelopeText(body: string | undefined): string {
  if (!body) return '';
  try {
    const { error } = JSON.parse(body) as { error?: { code?: unknown; message?: unknown } };
    const parts = [error?.code, error?.message].filter((part) => typeof part === 'string');
    return parts.length === 0 ? '' : `: ${parts.join(': ').slice(0, 500).replace(/\.$/, '')}`;
  } catch {
    return '';
  }
}
