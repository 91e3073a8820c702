import { hash } from 'node:crypto';
import { type EndpointName, headers } from '@actlog/protocol';
import type { DeploymentSecret } from '../keys/deployment-secret.ts';
import { lockNames } from '../storage/locks.ts';
import type { Database } from '../storage/transaction.ts';
import { ApiError, validationError } from './api-error.ts';

/** Milliseconds that an answer is kept for a repeat (reference profile). */
export const answersKeptForMs: number = 24 * 3_600_000;

const shape = /^[\x21-\x7e]{1,255}$/;

/** Forgets the answers of a tenant to one kind of request: a repeat is taken for a request of its own. */
export async function forgetAnswers(db: Database, tenantId: number, endpoint: EndpointName): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where('tenant_id', '=', tenantId)
    .where('endpoint', '=', endpoint)
    .execute();
}

/** One use of an `Idempotency-Key`: the first request writes its answer, a repeat reads it. */
export class IdempotentRequest {
  readonly #secret: DeploymentSecret;
  readonly #place: { readonly tenant_id: number; readonly endpoint: string; readonly key: string };
  readonly #digest: string;

  /** `path` and `body` are what a repeat must have in common with the first request. */
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
   * The first answer, or undefined when this is the first request.
   *
   * @throws ApiError `IDEMPOTENCY_KEY_REUSED` when the first request was another one.
   */
  async firstAnswer(db: Database, nowMs: number): Promise<unknown> {
    const { tenant_id: tenantId, endpoint, key } = this.#place;
    // A repeat that comes while the first request is worked on waits for its answer.
    await lockNames(db, tenantId, [this.#context]);
    const row = await db
      .selectFrom('idempotency_keys')
      .select(['request_digest', 'response'])
      .where('tenant_id', '=', tenantId)
      .where('endpoint', '=', endpoint)
      .where('key', '=', key)
      .where('created_ms', '>', nowMs - answersKeptForMs)
      .executeTakeFirst();
    if (!row) return undefined;
    if (row.request_digest !== this.#digest) {
      throw new ApiError(
        'IDEMPOTENCY_KEY_REUSED',
        'This Idempotency-Key was used for another request; give every request its own.',
      );
    }
    return JSON.parse(this.#secret.decrypt(row.response, this.#context));
  }

  /** Keeps the answer of the first request, in the transaction of its effect. */
  async keepAnswer(db: Database, status: number, answer: unknown, nowMs: number): Promise<void> {
    const changes = {
      request_digest: this.#digest,
      status,
      // Encrypted, because it can hold a secret that is shown once.
      response: this.#secret.encrypt(JSON.stringify(answer), this.#context),
      created_ms: nowMs,
    };
    await db
      .insertInto('idempotency_keys')
      .values({ ...this.#place, ...changes })
      .onConflict((conflict) => conflict.columns(['tenant_id', 'endpoint', 'key']).doUpdateSet(changes))
      .execute();
  }

  get #context(): string {
    return `idempotency:${JSON.stringify(this.#place)}`;
  }
}
