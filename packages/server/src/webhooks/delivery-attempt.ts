import { headers, webhookHeaders } from '@actlog/protocol';
import type { Dispatcher } from 'undici';
import type { DeliveryRow } from '../storage/stores/delivery-store.ts';
import { ForbiddenAddressError, ForbiddenPortError } from './address-guard.ts';
import { requestedDelayMs } from './retry-schedule.ts';
import { request } from './undici.js';
import { webhookSignature } from './webhook-outbox.ts';

/** Outcome of an attempt. */
export interface AttemptOutcome {
  /** HTTP status, or `null` if there was no response. */
  readonly status: number | null;
  /** Reason for the failure, or `null` on success. It contains nothing that the receiver wrote. */
  readonly error: string | null;
  /** Delay that the receiver requested, in milliseconds. */
  readonly retryAfterMs: number;
  /** Duration of the attempt, in milliseconds; `null` if nothing was sent. */
  readonly durationMs: number | null;
}

/** Bytes of a response body that are read before the connection is closed. The body is ignored. */
const readBytes = 16 * 1024;

/** Timeout of a whole attempt, in milliseconds. */
const attemptTimeoutMs = 20_000;

/** Sends a message once (Standard Webhooks), signed with each of the secrets. Never throws. */
export async function attemptDelivery(
  dispatcher: Dispatcher,
  url: string,
  secrets: readonly string[],
  { message_id: messageId, body }: DeliveryRow,
): Promise<AttemptOutcome> {
  const nowMs = Date.now();
  const startedMs = performance.now();
  const durationMs = () => Math.round(performance.now() - startedMs);
  const timestampSeconds = Math.floor(nowMs / 1000);
  try {
    const { origin, pathname, search } = new URL(url);
    const response = await request.call(dispatcher, {
      origin,
      path: `${pathname}${search}`,
      method: 'POST',
      signal: AbortSignal.timeout(attemptTimeoutMs),
      headers: {
        [headers.contentType]: 'application/json',
        'user-agent': 'actlog-webhooks/1.0',
        [webhookHeaders.id]: messageId,
        [webhookHeaders.timestamp]: String(timestampSeconds),
        [webhookHeaders.signature]: secrets
          .map((secret) => webhookSignature(secret, messageId, timestampSeconds, body))
          .join(' '),
      },
      body,
    });
    const status = response.statusCode;
    // Only the status counts; a body that is too long or never ends is cut off.
    await response.body.dump({ limit: readBytes }).catch(() => {});
    const retryAfter = response.headers['retry-after'];
    return {
      status,
      error: status >= 200 && status < 300 ? null : `the receiver responded with ${status}`,
      retryAfterMs: requestedDelayMs(typeof retryAfter === 'string' ? retryAfter : undefined, nowMs),
      durationMs: durationMs(),
    };
  } catch (error) {
    return { status: null, error: reason(error), retryAfterMs: 0, durationMs: durationMs() };
  }
}

function reason(error: unknown): string {
  if (error instanceof ForbiddenAddressError || error instanceof ForbiddenPortError)
    return `the address ${error.message}`;
  const { code, name } = error as NodeJS.ErrnoException;
  return `the receiver could not be reached (${code ?? name})`;
}
