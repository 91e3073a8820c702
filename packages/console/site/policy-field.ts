import type { PolicyFields } from './policy-draft.ts';

type Name = keyof PolicyFields;

/** Fields of the form by the path in a policy, without the positions in lists. */
const fields: Readonly<Record<string, Name>> = {
  name: 'name',
  description: 'description',
  effect: 'effect',
  mode: 'mode',
  priority: 'priority',
  condition: 'condition',
  message: 'message',
  'match.agents': 'agents',
  'match.tools': 'tools',
  'match.frameworks': 'frameworks',
  'match.environments': 'environments',
  rate: 'rateMax',
  'rate.max': 'rateMax',
  'rate.windowSeconds': 'rateWindowSeconds',
  'rate.per': 'ratePer',
  approval: 'requiredApprovers',
  'approval.timeoutSeconds': 'timeoutSeconds',
  'approval.onTimeout': 'onTimeout',
  'approval.requiredApprovers': 'requiredApprovers',
  'approval.approverKeys': 'approverKeys',
  schedule: 'scheduleZone',
  'schedule.timeZone': 'scheduleZone',
  'schedule.days': 'scheduleDays',
  'schedule.from': 'scheduleFrom',
  'schedule.to': 'scheduleTo',
};

/** Returns the field of a policy's form for a path of an error: `match.tools.0` is about `tools`; undefined for none. */
export function policyField(path: string): Name | undefined {
  // A backtest has a list of policies, of which the form is the only one.
  const own = path.replace(/^policies\.0\./, '').replace(/\.\d+$/, '');
  return Object.hasOwn(fields, own) ? fields[own] : undefined;
}
