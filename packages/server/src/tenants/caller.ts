import type { Glob } from '@actlog/policy';
import type { Scope } from '@actlog/protocol';

/** The caller of a request: a key of a tenant, or a person who is signed in. */
export interface Caller {
  readonly tenantId: number;
  /** Permanent id of the caller: `key_…` for a key, `usr_…` for a person. */
  readonly id: string;
  /** Id of the key without its prefix; `undefined` for a person. */
  readonly keyId: string | undefined;
  /** Name of the key, for people; `undefined` for a person. */
  readonly keyName: string | undefined;
  readonly scopes: ReadonlySet<Scope>;
  /** Patterns of the agents that the key may act as; `undefined` for any agent. */
  readonly agents: readonly Glob[] | undefined;
  /** `true` if revoking an agent that the caller has acted as does not stop it as other agents. */
  readonly isShared: boolean;
  /** `true` if events, spans and checks of the caller need a token that verifies their agent. */
  readonly requiresIdentity: boolean;
  /** The person; `undefined` for a key. */
  readonly user: SignedInUser | undefined;
}

/** A person who is signed in. */
export interface SignedInUser {
  /** Name for people, such as an email address. */
  readonly name: string;
  readonly role: Role;
  /** Groups as the provider or the proxy names them. */
  readonly groups: readonly string[];
  /** Token that each request of the person's browser that changes something must contain. */
  readonly csrfToken: string;
  /** The stored sign-in; `undefined` for a person whom a trusted proxy names with each request. */
  readonly signIn: SignInReference | undefined;
}

/** A stored sign-in. */
export interface SignInReference {
  readonly id: string;
  /** SHA-256 of the secret in the cookie, in hex. */
  readonly digest: string;
  /** Time at which it ends at the latest, in Unix milliseconds. */
  readonly expiresMs: number;
}

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
