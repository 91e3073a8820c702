import type { Scope } from '@actlog/protocol';
import type { KeyKind } from '../keys/api-key.ts';
import { isoTime, isoTimeOrNull } from '../lib/iso-time.ts';
import type { StoredKey } from '../storage/stores/key-store.ts';

/** A key as the console shows it. Times are ISO 8601 in UTC with milliseconds. */
export interface KeyView {
  readonly id: string;
  readonly name: string;
  readonly kind: KeyKind;
  readonly scopes: readonly Scope[];
  readonly createdAt: string;
  /** Last use, up to a second late; `null` if the key was never used. */
  readonly lastUsedAt: string | null;
  /** Time from which the key is refused; `null` for never. */
  readonly expiresAt: string | null;
  /** Person or key that created it in the console; `null` for one that an operator created. */
  readonly createdBy: string | null;
  /** Patterns of the agents that it may act as; `null` for any agent. */
  readonly agents: readonly string[] | null;
  /** `true` if several agents share it, so that revoking one does not stop the others. */
  readonly shared: boolean;
  /** `true` for the key of the request. */
  readonly current: boolean;
}

/** Returns the view of a key for a caller with the key `callerKeyId`; `undefined` for a person. */
export function keyView(key: StoredKey, callerKeyId: string | undefined): KeyView {
  return {
    id: key.id,
    name: key.name,
    kind: key.kind,
    scopes: key.scopes,
    createdAt: isoTime(key.createdMs),
    lastUsedAt: isoTimeOrNull(key.lastUsedMs),
    expiresAt: isoTimeOrNull(key.expiresMs),
    createdBy: key.createdBy,
    agents: key.agents,
    shared: key.shared,
    current: key.id === callerKeyId,
  };
}
