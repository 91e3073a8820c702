import type { PolicyCheck } from '@actlog/protocol';
import type { PolicyRecord } from '../tenant/records.ts';
import { conditionHolds } from './condition.ts';
import { fitsGlob } from './glob.ts';

/** Why a policy is about an action, or undefined where it is not. */
export function whyMatched(
  { match, condition, effect }: PolicyRecord,
  check: PolicyCheck,
): string | undefined {
  const fields = [
    ['agent', match.agents, check.agentId],
    ['tool', match.tools, check.action.toolName],
    ['framework', match.frameworks, check.framework],
    ['environment', match.environments, check.environment],
  ] as const;
  const asked = fields.flatMap(([name, globs, value]) => (globs ? [{ name, globs, value }] : []));
  const fits = asked.map(({ globs, value }) =>
    globs.find((glob) => value !== undefined && fitsGlob(glob, value)),
  );
  if (fits.includes(undefined)) return undefined;
  const reasons = asked.map(({ name }, index) => `the ${name} fits "${fits[index]}"`);
  if (condition !== null) {
    const reason = whyHolds(condition, check, effect);
    if (reason === undefined) return undefined;
    reasons.push(reason);
  }
  return reasons.join('; ') || 'the policy is about every action';
}

/** A condition that cannot be told never opens a door: it counts as met, but for allow. */
function whyHolds(condition: string, check: PolicyCheck, effect: PolicyRecord['effect']): string | undefined {
  try {
    return conditionHolds(condition, check) ? 'the condition holds' : undefined;
  } catch (error) {
    if (effect === 'allow') return undefined;
    const [problem] = (error as Error).message.split('\n', 1); // the rest quotes the condition
    return `the condition cannot be told (${problem}), which counts as met`;
  }
}
