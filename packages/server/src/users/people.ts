import { findPerson, type PersonRow, peopleSince, peopleWithEmail } from '../storage/stores/people-store.ts';
import type { Database } from '../storage/transaction.ts';
import type { RequestActor } from '../tenants/audit-log.ts';
import { type Role, scopesOfRole } from '../tenants/caller.ts';

const dayMs = 24 * 3_600_000;

/** Roles of groups. */
interface Roles {
  roleOf(groups: readonly string[]): Role | undefined;
}

/** A person who acts without a browser, in a channel. */
export interface Person {
  readonly row: PersonRow;
  readonly groups: readonly string[];
  /** Role of their groups by the settings of now; `undefined` for no access. */
  readonly role: Role | undefined;
}

/**
 * People who have signed in, with the groups that they had then. They count for some days: nobody tells the server that
 * a person has left, so they have to show at the provider or the proxy from time to time that they have not.
 */
export class People {
  readonly #roles: Roles;
  readonly #validMs: number;

  /** @param days - days for which the groups of a sign-in count in channels */
  constructor(roles: Roles, days: number) {
    this.#roles = roles;
    this.#validMs = days * dayMs;
  }

  /**
   * Returns the person with a verified address, or with an id such as `usr_5f0c…`. `several` if more than one account
   * has the address, and `undefined` for nobody, or a person who has not signed in for too long.
   */
  async find(
    db: Database,
    tenantId: number,
    idOrEmail: string,
    nowMs: number,
  ): Promise<Person | 'several' | undefined> {
    if (idOrEmail.startsWith('usr_')) {
      return this.#valid(await findPerson(db, tenantId, idOrEmail), nowMs);
    }
    const email = idOrEmail.trim().normalize('NFC').toLowerCase();
    const [first, second] = await peopleWithEmail(db, tenantId, email);
    return second ? 'several' : this.#valid(first, nowMs);
  }

  /** Returns the people who can approve an action that needs certain groups, or any action. */
  async approvers(
    db: Database,
    tenantId: number,
    groups: readonly (readonly string[])[],
    nowMs: number,
  ): Promise<Person[]> {
    const rows = await peopleSince(db, tenantId, nowMs - this.#validMs);
    return rows
      .map((row) => this.#person(row))
      .filter((person) => mayDecide(person))
      .filter((person) =>
        groups.every(
          (wanted) => wanted.length === 0 || wanted.some((group) => person.groups.includes(group)),
        ),
      );
  }

  #valid(row: PersonRow | undefined, nowMs: number): Person | undefined {
    return row && nowMs - row.seen_ms < this.#validMs ? this.#person(row) : undefined;
  }

  #person(row: PersonRow): Person {
    const groups = JSON.parse(row.member_of) as string[];
    return { row, groups, role: this.#roles.roleOf(groups) };
  }
}

/** `true` if a person may decide held actions. */
export function mayDecide({ role }: Person): boolean {
  return role !== undefined && scopesOfRole[role].includes('decide');
}

/** Returns a person as the author of a decision, the same as when they are signed in. */
export function actorOfPerson({ row: { id, name }, groups }: Person): RequestActor {
  return { kind: 'person', id, name, principal: name, groups };
}
