import type { Policy } from '@actlog/client';
import type { MatchedPolicy } from '@actlog/protocol';
import { localTime } from '../output/local-time.ts';
import type { Detail } from '../output/print-record.ts';
import type { Style } from '../output/style.ts';
import type { Column } from '../output/table.ts';

const effectStyles: Readonly<Record<string, Style>> = {
  allow: 'green',
  deny: 'red',
  require_approval: 'yellow',
};

/** Returns the style of an effect or a decision. */
export function effectStyle(effect: string | undefined): Style | undefined {
  return effect === undefined ? undefined : effectStyles[effect];
}

/** Returns the name of a policy with its id; only one of them if the service sends no other. */
export function policyText({
  policyId,
  policyName,
}: {
  readonly policyId?: string | undefined;
  readonly policyName?: string | undefined;
}): string | undefined {
  return policyName === undefined || policyId === undefined ? policyId : `${policyName} (${policyId})`;
}

/** Returns the policy or the approver that decided, with the policy that held the action for the approver. */
export function deciderText({
  decidedBy,
  matched = [],
}: {
  readonly decidedBy?: string | null | undefined;
  readonly matched?:
    | readonly Pick<MatchedPolicy, 'policyId' | 'policyName' | 'effect' | 'mode'>[]
    | undefined;
}): string {
  if (decidedBy == null) return 'no policy';
  const policy = matched.find(({ policyId }) => policyId === decidedBy);
  if (policy) return policyText(policy) ?? decidedBy;
  const holding = matched.find(({ effect, mode }) => effect === 'require_approval' && mode === 'enforce');
  return holding ? `${decidedBy}, held by ${policyText(holding)}` : decidedBy;
}

/** Columns of a list of policies. */
export const policyColumns: readonly Column<Policy>[] = [
  { title: 'POLICY', value: ({ id }) => id, minWidth: 36 },
  { title: 'NAME', value: ({ name }) => name, style: () => 'bold', minWidth: 12 },
  { title: 'EFFECT', value: ({ effect }) => effect, style: ({ effect }) => effectStyle(effect) },
  { title: 'MODE', value: ({ mode }) => mode },
  {
    title: 'STATUS',
    value: ({ status }) => status,
    style: ({ status }) => (status === 'archived' ? 'dim' : undefined),
  },
  { title: 'TOOLS', value: ({ match }) => match?.tools?.join(', ') ?? 'all' },
  { title: 'CONDITION', value: ({ condition }) => condition },
];

/** Returns the details of a policy. */
export function policyDetails(policy: Policy): Detail[] {
  const { match, rate, approval, schedule } = policy;
  return [
    ['policy', policy.id, 'bold'],
    ['name', policy.name],
    ['description', policy.description],
    ['effect', policy.effect, effectStyle(policy.effect)],
    ['mode', policy.mode],
    ['status', policy.status],
    ['priority', policy.priority],
    ['agents', match?.agents?.join(', ')],
    ['tools', match?.tools?.join(', ')],
    ['frameworks', match?.frameworks?.join(', ')],
    ['environments', match?.environments?.join(', ')],
    ['condition', policy.condition],
    ['rate', rate && `beyond ${rate.max} in ${rate.windowSeconds} s per ${rate.per}`],
    ['approval', approval && approvalText(approval)],
    ['schedule', schedule && scheduleText(schedule)],
    ['message', policy.message],
    ['created', localTime(policy.createdAt)],
    ['archived', localTime(policy.archivedAt)],
    ['version', policy.version],
  ];
}

function approvalText(approval: NonNullable<Policy['approval']>): string {
  const { requiredApprovers = 1, approverKeys, approverGroups } = approval;
  return [
    `${approval.onTimeout} after ${approval.timeoutSeconds} s`,
    ...(approval.singleUse ? ['for one call'] : []),
    ...(requiredApprovers > 1 ? [`by ${requiredApprovers} approvers`] : []),
    ...(approval.notRequester ? ['not by the requester'] : []),
    ...(approval.verifiedPrincipal ? ['only for a verified principal'] : []),
    ...(approverKeys ? [`only by ${approverKeys.join(', ')}`] : []),
    ...(approval.editable ? [`changeable: ${approval.editable.map(({ path }) => path).join(', ')}`] : []),
    ...(approverGroups ? [`only by people of ${approverGroups.join(', ')}`] : []),
  ].join(', ');
}

function scheduleText({
  days,
  from = '00:00',
  to = '24:00',
  timeZone,
}: NonNullable<Policy['schedule']>): string {
  return `${days?.join(', ') ?? 'every day'} from ${from} to ${to} in ${timeZone}`;
}
