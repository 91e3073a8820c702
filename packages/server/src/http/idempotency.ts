import { hash } from 'node:crypto';
import { type EndpointName, headers } from '@actlog/protocol';
import type { DeploymentSecret } from '../keys/deployment-secret.ts';
import { ApiError, validationError } from '../lib/api-error.ts';
import { lockNames } from '../storage/locks.ts';
import {
  findStoredResponse,
  type ResponsePlace,
  saveResponse,
} from '../storage/stores/idempotent-response-store.ts';
import type { Database } from '../storage/transaction.ts';

const shape = /^[\x21-\x7e]{1,255}$/;

/** One use of an `Idempotency-Key`: the first request stores its response, and a repeat reads it. */
export class IdempotentRequest {
  readonly #secret: DeploymentSecret;
  readonly #place: ResponsePlace;
  readonly #digest: string;

  /** `path` and `body` must be the same in a repeat as in the first request. */
  constructor(
    secret: DeploymentSecret,
    tenantId: number,
    endpoint: EndpointName,
    key: string,
    path: string,
    body: unknown,
  ) {
    if (!shape.test(key)) {
      throw validationError(
        headers.idempotencyKey,
        'invalid_format',
        'must have 1 to 255 visible ASCII characters',
      );
    }
    this.#secret = secret;
    this.#place = { tenant_id: tenantId, endpoint, key };
    this.#digest = hash('sha256', JSON.stringify([path, body]));
  }

  /**
   * Returns the response to the first request, or `undefined` if this is the first.
   *
   * @throws ApiError `IDEMPOTENCY_KEY_REUSED` when the first request differed.
   */
  async firstResponse(db: Database, nowMs: number): Promise<unknown> {
    // A repeat that arrives while the first request is in progress waits for its response.
    await lockNames(db, this.#place.tenant_id, [this.#context]);
    const row = await findStoredResponse(db, this.#place, nowMs);
    if (!row) return undefined;
    if (row.request_digest !== this.#digest) {
      throw new ApiError(
        'IDEMPOTENCY_KEY_REUSED',
        'This Idempotency-Key was used for another request; use a new key for each request.',
      );
    }
    return JSON.parse(this.#secret.decrypt(row.response, this.#context));
  }

  /** Stores the response of the first request, in the transaction of its effect. */
  async storeResponse(db: Database, status: number, response: unknown, nowMs: number): Promise<void> {
    await saveResponse(db, {
      ...this.#place,
      request_digest: this.#digest,
      status,
      // Encrypted, because it can contain a secret that is shown only once.
      response: this.#secret.encrypt(JSON.stringify(response), this.#context),
      created_ms: nowMs,
    });
  }

  get #context(): string {
    return `idempotency:${JSON.stringify(this.#place)}`;
  }
}
