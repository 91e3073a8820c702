import type { Scope } from '@actlog/protocol';

/** A usual set of scopes, with a name and what it is for. */
export interface KeyRole {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly about: string;
}

/** Usual sets of scopes by id, the least powerful first. */
export const keyRoles = {
  agent: {
    name: 'Agent',
    scopes: ['ingest'],
    about: 'Records events and checks actions. It cannot read, change or approve anything.',
  },
  reader: {
    name: 'Reader',
    scopes: ['read'],
    about: 'Reads everything that is recorded. It cannot change or approve anything.',
  },
  approver: {
    name: 'Approver',
    scopes: ['read', 'decide'],
    about: 'Reads everything, and approves or denies held actions.',
  },
  admin: {
    name: 'Administrator',
    scopes: ['ingest', 'read', 'manage', 'decide'],
    about: 'Does everything, also with policies, agents, webhooks, keys and the audit log.',
  },
} as const satisfies Readonly<Record<string, KeyRole>>;

/** Returns the name of the role with exactly these scopes, or `undefined` if there is none. */
export function roleName(scopes: readonly Scope[]): string | undefined {
  const roles: readonly KeyRole[] = Object.values(keyRoles);
  return roles.find(
    (role) => role.scopes.length === scopes.length && role.scopes.every((scope) => scopes.includes(scope)),
  )?.name;
}
