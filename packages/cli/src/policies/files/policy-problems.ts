import { ConditionError, parseCondition } from '@actlog/policy';
import type { FileProblem } from './policy-file-error.ts';
import type { PlacedPolicy } from './policy-files.ts';
import { type Position, positionText } from './position.ts';

/** Returns the problems of a policy that the schema cannot express. */
export function contradictionsIn({ policy, positionOf }: PlacedPolicy): FileProblem[] {
  const problems: FileProblem[] = [];
  if (policy.approval != null && policy.effect !== 'require_approval') {
    const message = 'approval: is allowed only with the effect require_approval';
    problems.push({ position: positionOf(['approval']), message });
  }
  try {
    if (policy.condition != null) parseCondition(policy.condition);
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error;
    problems.push({
      position: positionOf(['condition'], error.offset),
      message: `condition: ${error.finding}`,
    });
  }
  return problems;
}

/** Returns a problem for each policy whose name another one has. */
export function duplicatesIn(policies: readonly PlacedPolicy[]): FileProblem[] {
  const first = new Map<string, Position>();
  return policies.flatMap(({ policy: { name }, positionOf }) => {
    const position = positionOf(['name']);
    const other = first.get(name);
    if (other === undefined) {
      first.set(name, position);
      return [];
    }
    const message = `name: another policy has the name "${name}" (${positionText(other)}); names must be unique`;
    return [{ position, message }];
  });
}
