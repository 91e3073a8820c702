import type { Scope } from '@actlog/protocol';
import { isoTime, isoTimeOrNull } from '../iso-time.ts';
import type { KeyKind } from '../keys/api-key.ts';
import type { StoredKey } from '../storage/key-store.ts';

/** A key as the console shows it. Times are ISO 8601 in UTC, with milliseconds. */
export interface KeyView {
  readonly id: string;
  readonly name: string;
  readonly kind: KeyKind;
  readonly scopes: readonly Scope[];
  readonly createdAt: string;
  /** May be a second behind; null for one that was never used. */
  readonly lastUsedAt: string | null;
  /** From this moment the key is refused; null for never. */
  readonly expiresAt: string | null;
  /** Whether it is the key that asks. */
  readonly current: boolean;
}

/** A key as the one with the id `askingId` is shown it. */
export function keyView(key: StoredKey, askingId: string): KeyView {
  return {
    id: key.id,
    name: key.name,
    kind: key.kind,
    scopes: key.scopes,
    createdAt: isoTime(key.createdMs),
    lastUsedAt: isoTimeOrNull(key.lastUsedMs),
    expiresAt: isoTimeOrNull(key.expiresMs),
    current: key.id === askingId,
  };
}
