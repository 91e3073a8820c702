import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { LogRecord } from '@actlog/log';
import { stringifyExactJson } from '@actlog/protocol';
import type { Dispatcher } from 'undici';
import { boundedBody } from '../lib/bounded-body.ts';
import { requestedDelayMs } from '../webhooks/delivery-attempt.ts';
import { Agent, buildConnector, request } from '../webhooks/undici.js';
import type { OcsfEvent } from './ocsf.ts';

/** A part of a batch. */
export interface BatchItem {
  /** Its size, in bytes. */
  readonly bytes: number;
}

/** A record of a batch. */
export interface BatchRecord extends BatchItem {
  /** Identifier that is the same in each repeat: the tenant and the index of the entry in its log. */
  readonly id: string;
  readonly event: OcsfEvent;
  /** The event as JSON. */
  readonly json: string;
}

/** Returns a record of a batch. */
export function batchRecord(id: string, event: OcsfEvent): BatchRecord {
  const json = stringifyExactJson(event) ?? '{}';
  return { id, event, json, bytes: json.length };
}

/** Consecutive records of a tenant's log, in its order, or raises of risk. */
export interface Batch<Item extends BatchItem = BatchRecord> {
  /** Name of the tenant. */
  readonly tenant: string;
  /** Name that a repeat of the batch has too. */
  readonly name: string;
  /** Indexes of the first and the last entry, whose records may be deleted; `undefined` for raises of risk. */
  readonly entries: { readonly first: number; readonly last: number } | undefined;
  readonly records: readonly Item[];
  /** Aborted when the server stops, or the batch takes too long. */
  readonly signal: AbortSignal;
}

/** A system that records are forwarded to. */
export interface Destination<Item extends BatchItem = BatchRecord> {
  /**
   * Converts the records for a destination that does not take OCSF. A batch that is sent again then ends with the same
   * entry, unless records of it were deleted.
   *
   * @returns `undefined` for a record that the destination does not need
   */
  readonly convert?: (tenantId: number, index: number, record: LogRecord) => Item | undefined;
  /**
   * Sends a batch, and resolves when the destination has acknowledged all of it.
   *
   * @throws ForwardError when the batch, or a part of it, was not acknowledged
   */
  send(batch: Batch<Item>): Promise<void>;
  /** Closes idle connections. */
  close(): Promise<void>;
}

/** Reasons for which a batch is not acknowledged. */
export const failureReasons = ['unreachable', 'timeout', 'busy', 'refused', 'rejected', 'internal'] as const;

/**
 * Reason for which a batch is not acknowledged: no connection, no response in time, an overloaded destination, a refused
 * request such as one without a valid token, rejected records, or an error of the server itself.
 */
export type FailureReason = (typeof failureReasons)[number];

/** Error thrown when a destination has not acknowledged a batch. The message contains nothing that was sent. */
export class ForwardError extends Error {
  readonly reason: FailureReason;
  /** Delay that the destination requested, in milliseconds. */
  readonly retryAfterMs: number;

  constructor(reason: FailureReason, message: string, retryAfterMs = 0, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** A successful response. */
export interface DestinationResponse {
  readonly status: number;
  readonly body: string;
}

/** A request to a destination. */
export interface DestinationRequest {
  readonly method: 'POST' | 'PUT';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
  readonly signal: AbortSignal;
}

/** Longest response that is read, in bytes. */
const maxResponseBytes = 16 * 1024 * 1024;

/**
 * HTTP client of one destination. Unlike webhooks it reaches private addresses, because only the operator of the server
 * configures destinations. It follows no redirect, which could carry a credential to another host.
 */
export class DestinationClient {
  readonly #agent: Agent;

  /** @param caFile - file with the certificates that the destination's one is issued by; by default those of Node */
  constructor(caFile: string | undefined) {
    const ca = caFile === undefined ? undefined : readFileSync(caFile, 'utf8');
    const options = { timeout: 10_000, allowH2: false, ...(ca !== undefined && { ca }) };
    this.#agent = new Agent({ pipelining: 1, connections: 8, connect: buildConnector(options) });
  }

  /** @throws ForwardError when there is no response, or its status is not 2xx */
  async send({ url, method, headers, body, signal }: DestinationRequest): Promise<DestinationResponse> {
    let response: Dispatcher.ResponseData;
    let text: string;
    try {
      response = await request.call(this.#agent, {
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method,
        headers,
        body: body instanceof Uint8Array ? Buffer.from(body) : body,
        signal,
      });
      text = (await boundedBody(response.body, maxResponseBytes)).toString('utf8');
    } catch (cause) {
      throw connectionError(url.host, cause, signal);
    }
    const { statusCode: status, headers: received } = response;
    if (status >= 200 && status < 300) return { status, body: text };
    const retryAfter = received['retry-after'];
    const delayMs = requestedDelayMs(typeof retryAfter === 'string' ? retryAfter : undefined, Date.now());
    const isBusy = status === 429 || status >= 500;
    throw new ForwardError(isBusy ? 'busy' : 'refused', `${url.host} responded with ${status}`, delayMs);
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

/** Returns the error for a connection that could not be made, or ended. */
export function connectionError(host: string, cause: unknown, signal: AbortSignal): ForwardError {
  if (signal.aborted) return new ForwardError('timeout', `${host} did not respond in time`, 0, { cause });
  const { code, message } = cause as NodeJS.ErrnoException;
  return new ForwardError('unreachable', `${host} cannot be reached: ${code ?? message}`, 0, { cause });
}

/** Compresses with gzip. */
export const gzipped: (data: string | Uint8Array) => Promise<Uint8Array> = promisify(gzip);
