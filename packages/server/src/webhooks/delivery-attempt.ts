import { headers, webhookHeaders } from '@actlog/protocol';
import type { Dispatcher } from 'undici';
import type { DeliveryRow } from '../storage/stores/delivery-store.ts';
import { ForbiddenAddressError, ForbiddenPortError } from './address-guard.ts';
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

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Delays between attempts, in milliseconds (Standard Webhooks, "Retry schedule"). The first attempt is immediate. */
const delaysMs = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
] as const;

/**
 * Delays between attempts to send to a channel for people, in milliseconds. They are shorter at first, because a held
 * action waits for minutes.
 */
export const channelDelaysMs: readonly number[] = [
  2 * second,
  5 * second,
  15 * second,
  30 * second,
  minute,
  2 * minute,
  5 * minute,
  10 * minute,
  30 * minute,
  hour,
  3 * hour,
  6 * hour,
  12 * hour,
];

/** Longest delay that a receiver may request, in milliseconds. */
const maxDelayMs = 24 * hour;

/**
 * Returns the delay after `attempts` failed attempts, in milliseconds, or `undefined` when no attempts are left. Up to
 * 10% of random jitter spreads the messages of an outage.
 */
export function retryDelayMs(
  attempts: number,
  retryAfterMs = 0,
  delays: readonly number[] = delaysMs,
): number | undefined {
  const delayMs = delays[attempts - 1];
  if (delayMs === undefined) return undefined;
  const jitteredMs = Math.round(delayMs * (1 + Math.random() * 0.1));
  return Math.max(jitteredMs, Math.min(retryAfterMs, maxDelayMs));
}

/**
 * Returns the delay that `Retry-After` requests in seconds or as a date (RFC 9110, section 10.2.3), in milliseconds.
 */
export function requestedDelayMs(retryAfter: string | undefined, nowMs: number): number {
  if (retryAfter === undefined) return 0;
  if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter) * 1000;
  const timeMs = retryAfter.endsWith(' GMT') ? Date.parse(retryAfter) : Number.NaN;
  return Number.isNaN(timeMs) ? 0 : Math.max(0, timeMs - nowMs);
}
