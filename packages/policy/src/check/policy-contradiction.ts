import type { PolicyDefinition } from './fired-policy.ts';
import { isTimeZone, type Schedule } from './schedule.ts';

/** A contradiction between fields of a policy. */
export interface PolicyContradiction {
  /** Path of the field. */
  readonly path: string;
  /** The problem, as the rest of a sentence that the field begins, without a period. */
  readonly message: string;
}

/** Returns a contradiction that the schema of a policy cannot express; undefined if there is none. */
export function policyContradiction({
  approval,
  effect,
  schedule,
}: Pick<PolicyDefinition, 'approval' | 'effect' | 'schedule'>): PolicyContradiction | undefined {
  return (schedule && scheduleProblem(schedule)) ?? approvalProblem(approval, effect);
}

function scheduleProblem({
  timeZone,
  from = '00:00',
  to = '24:00',
}: Schedule): PolicyContradiction | undefined {
  if (!isTimeZone(timeZone)) {
    return {
      path: 'schedule.timeZone',
      message: 'is an unknown time zone; use a name such as Europe/Berlin or UTC',
    };
  }
  if (from !== to) return undefined;
  return {
    path: 'schedule.to',
    message: 'is the same as from, so the window would be empty; leave out both for whole days',
  };
}

function approvalProblem(
  approval: PolicyDefinition['approval'],
  effect: PolicyDefinition['effect'],
): PolicyContradiction | undefined {
  if (approval === null) return undefined;
  if (effect !== 'require_approval') {
    return { path: 'approval', message: 'is allowed only with the effect require_approval' };
  }
  const { approverKeys, requiredApprovers = 1, editable = [] } = approval;
  const twice = editable.find(({ path }, index) => editable.findIndex((one) => one.path === path) < index);
  if (twice) return { path: 'approval.editable', message: `has the path ${twice.path} twice; give it once` };
  const keys = new Set(approverKeys).size;
  if (approverKeys === undefined || keys >= requiredApprovers) return undefined;
  return {
    path: 'approval.requiredApprovers',
    message: `is ${requiredApprovers}, but approverKeys has ${keys} different ${keys === 1 ? 'key' : 'keys'}; list more keys or require fewer approvers`,
  };
}
