import type { StoredKey } from '../storage/stores/key-store.ts';
import { fieldChanges } from './field-changes.ts';
import type { Change } from './record-change.ts';

/** Returns the entry of the audit log for a key that was created or revoked. It never has the key or its digest. */
export function keyChange(action: 'key.created' | 'key.revoked', key: StoredKey): Change {
  const target = { id: `key_${key.id}`, name: key.name };
  if (action === 'key.revoked') {
    return { action, target, changes: [{ field: 'status', before: 'active', after: 'revoked' }] };
  }
  return {
    action,
    target,
    changes: fieldChanges(undefined, { ...key, expiresAt: expiryOf(key) }, [
      'kind',
      'scopes',
      'agents',
      'shared',
      'expiresAt',
    ]),
  };
}

/** Returns the entry of the audit log for a key that another one replaces. */
export function rotationChange(id: string, successor: StoredKey): Change {
  return {
    action: 'key.rotated',
    target: { id: `key_${id}`, name: successor.name },
    changes: fieldChanges(undefined, { replacedBy: `key_${successor.id}`, expiresAt: expiryOf(successor) }, [
      'replacedBy',
      'expiresAt',
    ]),
  };
}

function expiryOf({ expiresMs }: StoredKey): string | null {
  return expiresMs === null ? null : new Date(expiresMs).toISOString();
}
