import type { AuditFieldChange } from '@actlog/protocol';
import type { Role } from '../keys/roles.ts';
import type { SignInRow } from '../storage/stores/sign-in-store.ts';
import type { RequestActor } from './actor.ts';
import type { Change } from './record-change.ts';

/** A person who signs in. */
interface Person {
  readonly userId: string;
  readonly name: string;
  readonly role: Role;
}

/** Returns the author of a sign-in, who is the person. */
export function personActor({ userId, name }: Person): RequestActor {
  return { kind: 'person', id: userId, name, principal: name };
}

/** Returns the entry of the audit log for a person who signs in. */
export function signedInChange({ userId, name, role }: Person): Change {
  const changes: readonly AuditFieldChange[] = [{ field: 'role', before: null, after: role }];
  return { action: 'sign_in.created', target: { id: userId, name }, changes };
}

/** Returns the entry of the audit log for a sign-in that the person or an administrator ends. */
export function signedOutChange({ user_id: id, name }: SignInRow): Change {
  return { action: 'sign_in.ended', target: { id, name }, changes: [] };
}
