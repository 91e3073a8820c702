import type { AuditAction, AuditActor, AuditTargetKind } from '@actlog/protocol';

/** One change by a person, a key or the server. */
export interface AuditTable {
  tenant_id: number;
  /** Sorts by the time of the change. */
  id: string;
  at_ms: number;
  actor_kind: AuditActor['kind'];
  /** Id of the key; `null` for others. */
  actor_id: string | null;
  /** Name of the key at the time of the change; `null` for others. */
  actor_name: string | null;
  /** Person whom a trusted proxy named; `null` for none. */
  principal: string | null;
  action: AuditAction;
  target_kind: AuditTargetKind;
  target_id: string;
  /** Name at the time of the change; `null` for none. */
  target_name: string | null;
  /** Changed fields, as a JSON array. */
  changes: string;
}
