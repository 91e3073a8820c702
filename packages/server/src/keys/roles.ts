import type { Scope } from '@actlog/protocol';

/** Role of a person who signs in, with increasing permissions. */
export type Role = 'viewer' | 'approver' | 'admin';

/** Scopes of each role. A role permits exactly what a key with these scopes does. */
export const scopesOfRole: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: ['read'],
  approver: ['read', 'decide'],
  admin: ['ingest', 'read', 'manage', 'decide'],
};

/** All roles, from the fewest permissions to the most. */
export const roles: readonly Role[] = ['viewer', 'approver', 'admin'];
