import { recordKinds } from '@actlog/log';
import { flag } from '@actlog/protocol/schemas';
import * as z from 'zod';
import { readFeed, readReceipt } from '../evidence/log-reader.ts';
import type { LogSequencer } from '../evidence/log-sequencer.ts';
import type { LogWitnesses } from '../evidence/log-witnesses.ts';
import { requireEveryScope, requireScope } from '../http/request-gate.ts';
import type { ServerRoute } from '../http/server-route.ts';
import { notFound } from '../lib/api-error.ts';
import { logHead } from '../storage/log/tenant-log.ts';
import type { Storage } from '../storage/storage.ts';
import type { Database } from '../storage/transaction.ts';
import { allScopes } from '../tenants/provisioning.ts';

/** Parts of the server that the routes of the log use. */
export interface LogParts {
  readonly storage: Storage;
  readonly witnesses: LogWitnesses;
  readonly sequencer: LogSequencer;
}

const feedQuery = z.strictObject({
  /** Index of the last record that the caller has; omitted for all records. */
  after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
  /** Maximum number of records; by default all until now. */
  limit: z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER).optional(),
  /** Seconds to wait for a record if there is none yet, up to 25. */
  waitSeconds: z.coerce.number().min(0).max(25).optional(),
  /** `true` to add a receipt to each record, all for one checkpoint. */
  receipts: flag.optional(),
});

/**
 * Route `GET /server/v1/feed`: what was recorded, in the order of the log, as lines of JSON. Entries of the audit log are
 * only for callers with every scope.
 */
export function feedRoute({ storage, witnesses, sequencer }: LogParts): ServerRoute<typeof feedQuery> {
  return {
    method: 'GET',
    path: '/feed',
    success: 200,
    query: feedQuery,
    check: (caller) => requireScope(caller, 'read'),
    async handle({ caller: { tenantId, scopes }, query, disconnected }) {
      const { after = -1, limit = Number.MAX_SAFE_INTEGER, waitSeconds = 0, receipts = false } = query;
      const signal = disconnected();
      const size = () => storage.read(tenantId, async (db) => (await logHead(db, tenantId)).size);
      if (waitSeconds > 0) {
        await sequencer.waitFor(tenantId, {
          isReached: async () => (await size()) > after + 1,
          waitMs: waitSeconds * 1000,
          signal,
        });
      }
      const head = receipts
        ? await storage.read(tenantId, async (db) => witnesses.published(db, await tenantOf(db, tenantId)))
        : undefined;
      const leftOut = new Set(allScopes.every((scope) => scopes.has(scope)) ? [] : (['audit'] as const));
      return readFeed({ storage, tenantId, after, limit, leftOut, head, signal });
    },
  };
}

const receiptQuery = z.strictObject({
  /** Kind of the record. */
  kind: z.enum(recordKinds).default('event'),
});

/** Route `GET /server/v1/receipts/:id`: a record with the proof that the log has it. */
export function receiptRoute({ storage, witnesses }: LogParts): ServerRoute<typeof receiptQuery> {
  return {
    method: 'GET',
    path: '/receipts/:id',
    success: 200,
    query: receiptQuery,
    check: (caller) => requireScope(caller, 'read'),
    async handle({ caller, id, query: { kind } }) {
      if (kind === 'audit') requireEveryScope(caller);
      const { tenantId } = caller;
      const receipt = await storage.read(tenantId, async (db) =>
        readReceipt(db, tenantId, { kind, id }, await witnesses.published(db, await tenantOf(db, tenantId))),
      );
      if (!receipt) throw notFound('receipt');
      return receipt;
    },
  };
}

async function tenantOf(db: Database, id: number): Promise<{ readonly id: number; readonly name: string }> {
  return db.selectFrom('tenants').select(['id', 'name']).where('id', '=', id).executeTakeFirstOrThrow();
}
