import { headers, webhookHeaders } from '@actlog/protocol';
import { type Dispatcher, request } from 'undici';
import type { DeliveryRow } from '../storage/delivery-store.ts';
import { ForbiddenAddressError } from './address-guard.ts';
import { requestedDelayMs } from './retry-schedule.ts';
import { webhookSignature } from './signature.ts';

/** How a try ended. */
export interface AttemptOutcome {
  /** HTTP status, or null when none came back. */
  readonly status: number | null;
  /** Why it failed, or null when it did not. Nothing that the receiver wrote is in it. */
  readonly error: string | null;
  /** Milliseconds that the receiver asked to wait. */
  readonly retryAfterMs: number;
}

/** Bytes of an answer that are read before the connection is cut: what a receiver says is of no use. */
const readBytes = 16 * 1024;

/** Milliseconds for a whole try, however slowly the receiver answers. */
const attemptTimeoutMs = 20_000;

/** Sends a message once (Standard Webhooks), signed with each of the secrets. Never throws. */
export async function attemptDelivery(
  dispatcher: Dispatcher,
  url: string,
  secrets: readonly string[],
  { message_id: messageId, body }: DeliveryRow,
): Promise<AttemptOutcome> {
  const nowMs = Date.now();
  const timestampSeconds = Math.floor(nowMs / 1000);
  try {
    const response = await request(url, {
      dispatcher,
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
    // What counts is the status; an answer that never ends is cut off and changes nothing.
    await response.body.dump({ limit: readBytes }).catch(() => {});
    const retryAfter = response.headers['retry-after'];
    return {
      status,
      error: status >= 200 && status < 300 ? null : `the receiver answered ${status}`,
      retryAfterMs: requestedDelayMs(typeof retryAfter === 'string' ? retryAfter : undefined, nowMs),
    };
  } catch (error) {
    return { status: null, error: reason(error), retryAfterMs: 0 };
  }
}

function reason(error: unknown): string {
  if (error instanceof ForbiddenAddressError) return `the address ${error.message}`;
  const { code, name } = error as NodeJS.ErrnoException;
  return `the receiver could not be reached (${code ?? name})`;
}
