/**
 * Level of a requirement.
 *
 * - `MUST`: required by the specification; other behavior breaks the contract.
 * - `SHOULD`: implied but not stated by the specification; reported, never failed.
 * - `OPEN`: left open by the specification; observed behavior is reported, not judged.
 */
export type Level = 'MUST' | 'SHOULD' | 'OPEN';

/** A profile that a deployment can claim to implement, which is then checked as well. */
export type Capability = 'reference-profile';

/** All capabilities that a run can name. */
export const capabilities: readonly Capability[] = ['reference-profile'];

/** One requirement of a deployment. */
export interface Requirement {
  /** Stable id, such as `ACK-02`. The letters stand for the section. */
  readonly id: string;
  readonly level: Level;
  /** Heading of the specification, or of the reference profile for its own requirements. */
  readonly section: string;
  /** Statements behind it, by row or number: `Errors: code`. The first is in `section`. */
  readonly sources: readonly string[];
  /** The requirement in one sentence. */
  readonly text: string;
  /** Checked only if the run names this capability. */
  readonly capability?: Capability;
}

/** A requirement as a row in the file of its section: id, level, items, sentence. */
export type Row = readonly [id: string, level: Level, items: string | readonly string[], text: string];

/** Creates the requirements of a section. An item without a colon belongs to the section itself. */
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
