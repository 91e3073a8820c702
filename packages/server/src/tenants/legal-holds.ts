import type { LegalHold, LegalHoldDraft } from '@actlog/protocol';
import { newIdentifierAt } from '../lib/identifier.ts';
import { isoTime, isoTimeOrNull } from '../lib/iso-time.ts';
import {
  insertLegalHold,
  type LegalHoldRow,
  lockLegalHold,
  releaseLegalHold,
} from '../storage/retention/legal-holds.ts';
import { requireTenant } from '../storage/stores/tenant-store.ts';
import type { Database } from '../storage/transaction.ts';
import { type Change, fieldChanges, type operator, type RequestActor } from './audit-log.ts';

/** Author of a change of a legal hold. */
type Author = RequestActor | typeof operator;

/** Returns a legal hold as the API shows it. */
export function legalHoldView(row: LegalHoldRow): LegalHold {
  return {
    id: row.id,
    name: row.name,
    agentId: row.agent_id,
    sessionId: row.session_id,
    since: isoTimeOrNull(row.since_ms),
    until: isoTimeOrNull(row.until_ms),
    createdAt: isoTime(row.created_ms),
    createdByKind: row.created_kind,
    createdBy: row.created_by,
    createdByPrincipal: row.created_principal,
    releasedAt: isoTimeOrNull(row.released_ms),
    releasedBy: row.released_by,
    releasedByPrincipal: row.released_principal,
  };
}

/** A changed legal hold, with its entry for the audit log, which the caller adds in the same transaction. */
export interface ChangedHold {
  readonly hold: LegalHold;
  /** `undefined` if nothing has changed. */
  readonly change: Change | undefined;
}

/**
 * Places a legal hold. Once the transaction has committed, nothing that it covers is deleted.
 *
 * @throws RangeError when the tenant has too many
 */
export async function createLegalHold(
  db: Database,
  tenantId: number,
  draft: LegalHoldDraft,
  author: Author,
): Promise<ChangedHold> {
  const nowMs = Date.now();
  const row: LegalHoldRow = {
    tenant_id: tenantId,
    id: newIdentifierAt('lgh', nowMs),
    name: draft.name,
    agent_id: draft.agentId ?? null,
    session_id: draft.sessionId ?? null,
    since_ms: draft.since == null ? null : Date.parse(draft.since),
    until_ms: draft.until == null ? null : Date.parse(draft.until),
    created_ms: nowMs,
    created_kind: author.kind,
    created_by: author.id,
    created_principal: author.principal,
    released_ms: null,
    released_by: null,
    released_principal: null,
  };
  await insertLegalHold(db, row);
  await requireTenant(db, tenantId);
  const hold = legalHoldView(row);
  return {
    hold,
    change: {
      action: 'legal_hold.created',
      target: { id: hold.id, name: hold.name },
      changes: fieldChanges(undefined, hold, ['agentId', 'sessionId', 'since', 'until']),
    },
  };
}

/**
 * Releases a legal hold; releasing it again changes nothing.
 *
 * @returns `undefined` if there is none; `operator` if an operator has placed it, and the author is none
 */
export async function releaseLegalHoldOf(
  db: Database,
  tenantId: number,
  id: string,
  author: Author,
): Promise<ChangedHold | 'operator' | undefined> {
  const row = await lockLegalHold(db, tenantId, id);
  if (!row) return undefined;
  if (row.released_ms !== null) return { hold: legalHoldView(row), change: undefined };
  if (row.created_kind === 'operator' && author.kind !== 'operator') return 'operator';
  const released = {
    ...row,
    released_ms: Date.now(),
    released_by: author.id,
    released_principal: author.principal,
  };
  await releaseLegalHold(db, row, released);
  return {
    hold: legalHoldView(released),
    change: {
      action: 'legal_hold.released',
      target: { id, name: row.name },
      changes: [{ field: 'status', before: 'in force', after: 'released' }],
    },
  };
}
