/**
 * How binding a requirement is.
 *
 * - `MUST`: the specification says so; a deployment that does otherwise breaks the contract.
 * - `SHOULD`: it follows from the specification, which does not say it outright; told, never failed.
 * - `OPEN`: the specification leaves it to the deployment; what was seen is told, never judged.
 */
export type Level = 'MUST' | 'SHOULD' | 'OPEN';

/** A choice of the deployment that can be checked as well, when it claims to have made it. */
export type Capability = 'reference-profile';

/** All capabilities that a run can name. */
export const capabilities: readonly Capability[] = ['reference-profile'];

/** One statement that a deployment is held against. */
export interface Requirement {
  /** Stable number, such as `ACK-02`. The letters name the section. */
  readonly id: string;
  readonly level: Level;
  /** Heading of the specification that it stands under; of the reference profile, for what only that says. */
  readonly section: string;
  /** The statements behind it, by row or number: `Errors: code`. The first stands in `section`. */
  readonly sources: readonly string[];
  /** What is required, in one sentence. */
  readonly text: string;
  /** Only looked at when the run names this capability. */
  readonly capability?: Capability;
}

/** A requirement as the files of a section write it: id, level, items, sentence. */
export type Row = readonly [id: string, level: Level, items: string | readonly string[], text: string];

/** Makes the requirements of a section. An item without a colon belongs to the section itself. */
export function inSection(
  section: string,
  rows: readonly Row[],
  capability?: Capability,
): readonly Requirement[] {
  return rows.map(([id, level, items, text]) => ({
    id,
    level,
    section,
    sources: [items].flat().map((item) => (item.includes(': ') ? item : `${section}: ${item}`)),
    text,
    ...(capability && { capability }),
  }));
}
