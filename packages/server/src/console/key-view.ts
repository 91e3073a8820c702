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
  /** `true` for the key of the request. */
  readonly current: boolean;
}

/** Returns the view of a key for the caller with the key `callerKeyId`. */
export function keyView(key: StoredKey, callerKeyId: string): KeyView {
  return {
    id: key.id,
    name: key.name,
    kind: key.kind,
    scopes: key.scopes,
    createdAt: isoTime(key.createdMs),
    lastUsedAt: isoTimeOrNull(key.lastUsedMs),
    expiresAt: isoTimeOrNull(key.expiresMs),
    current: key.id === callerKeyId,
  };
}
