import type { Position } from '../files/position.ts';
import type { PlannedChange, PolicyPlan } from './policy-plan.ts';

/** A change as `--json` prints it. */
export type ChangeJson = Omit<PlannedChange, 'source'> & Partial<Position>;

/** A plan as `--json` prints it. */
export interface PlanJson {
  readonly changes: readonly ChangeJson[];
  readonly unchanged: number;
  readonly unmanaged: PolicyPlan['unmanaged'];
}

/** Returns a plan in the form that `--json` prints: places in files instead of whole policies. */
export function planJson({ changes, unchanged, unmanaged }: PolicyPlan): PlanJson {
  return { changes: changes.map(changeJson), unchanged, unmanaged };
}

/** Returns a change in the form that `--json` prints. */
export function changeJson(change: PlannedChange): ChangeJson {
  if (change.action === 'archive') return change;
  const { source, ...fields } = change;
  return { ...fields, ...source.position };
}
