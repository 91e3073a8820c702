import { type Role, roles } from '../keys/roles.ts';

/** Roles of the groups of a company. */
export class RoleMapping {
  readonly #byGroup: ReadonlyMap<string, Role>;
  readonly #defaultRole: Role | undefined;

  /** @param defaultRole - role of people without a mapped group; `none` for no access */
  constructor(byGroup: Readonly<Record<string, Role>>, defaultRole: Role | 'none') {
    this.#byGroup = new Map(Object.entries(byGroup));
    this.#defaultRole = defaultRole === 'none' ? undefined : defaultRole;
  }

  /** Returns the highest role of a person's groups, else the default role; `undefined` for no access. */
  roleOf(groups: readonly string[]): Role | undefined {
    const held = new Set(groups.map((group) => this.#byGroup.get(group)));
    return roles.findLast((role) => held.has(role)) ?? this.#defaultRole;
  }
}
