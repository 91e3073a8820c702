import type { EditableArgument, PendingAction } from '@actlog/client';
import { stringifyExactJson } from '@actlog/protocol';
import { agentText } from '../agents/agent-columns.ts';
import { localTime } from '../output/local-time.ts';
import type { Detail } from '../output/print-record.ts';
import type { Style } from '../output/style.ts';
import type { Column } from '../output/table.ts';
import { policyText } from '../policies/policy-columns.ts';

const statusStyles: Readonly<Record<string, Style>> = {
  pending: 'yellow',
  approved: 'green',
  denied: 'red',
  expired: 'dim',
  withdrawn: 'dim',
};

/** Returns the style of a status of a held action. */
export function statusStyle(status: string | undefined): Style | undefined {
  return status === undefined ? undefined : statusStyles[status];
}

/** Columns of a list of held actions. */
export const actionColumns: readonly Column<PendingAction>[] = [
  { title: 'ACTION', value: ({ id }) => id, minWidth: 36 },
  { title: 'STATUS', value: ({ status }) => status, style: ({ status }) => statusStyle(status) },
  { title: 'AGENT', value: agentText },
  { title: 'TOOL', value: ({ action }) => action?.toolName, style: () => 'bold', minWidth: 10 },
  { title: 'EXPIRES', value: ({ expiresAt }) => localTime(expiresAt), minWidth: 19 },
  { title: 'SESSION', value: ({ sessionId }) => sessionId },
  { title: 'POLICY', value: policyText },
  { title: 'REASON', value: ({ reason }) => reason },
];

/** Returns the shown arguments as JSON, with all digits of their numbers where the service sends them. */
function argumentsText(action: PendingAction['action']): string {
  if (action?.arguments === undefined) return 'not shown';
  const { argumentsJson } = action;
  return typeof argumentsJson === 'string' ? argumentsJson : JSON.stringify(action.arguments);
}

/** Returns the details of a held action, with all that its approver should see. */
export function actionDetails(held: PendingAction): Detail[] {
  const { action, decision, grantId } = held;
  return [
    ['action', held.id, 'bold'],
    ['status', held.status, statusStyle(held.status)],
    ['agent', agentText(held)],
    ['session', held.sessionId],
    ['tool', action?.toolName, 'bold'],
    ['arguments', argumentsText(action)],
    ['changeable', editableText(held)],
    ['changed', changesText(held)],
    ['hash', action?.argumentsHash, 'dim'],
    ['ran with', held.executedHash, 'dim'],
    ['origins', action?.origins === undefined ? undefined : originsText(action.origins)],
    ['policy', policyText(held)],
    ['reason', held.reason],
    ['created', localTime(held.createdAt)],
    ['expires', held.expiresAt && `${localTime(held.expiresAt)}, then ${held.onTimeout ?? 'denied'}`],
    ['for', held.principal],
    ['verified', verifiedText(held)],
    ['approval', held.singleUse ? 'for one call' : undefined],
    ['approvers', approversText(held)],
    ['decided by', decision?.principal ?? decision?.decidedBy],
    ['grant', grantId],
    ['comment', decision?.comment],
  ];
}

/** Returns the arguments that an approver may change; undefined for none, or if the agent cannot run changed ones. */
function editableText({ action, editable = [], status }: PendingAction): string | undefined {
  if (editable.length === 0 || status !== 'pending') return undefined;
  const paths = editable.map((limit) => `${limit.path} (${limitText(limit)})`).join(', ');
  return action?.acceptsChanges === true ? paths : `none: the agent cannot run changed arguments`;
}

/** Returns the limit of an argument that an approver may change. */
export function limitText({ min, max, subset, oneOf }: EditableArgument): string {
  if (subset) return 'some of the elements';
  if (oneOf) return `one of ${oneOf.map((text) => JSON.stringify(text)).join(', ')}`;
  if (min === undefined && max === undefined) return 'any text';
  const from = min === undefined ? [] : [`at least ${min}`];
  return ['a smaller number', ...from, ...(max === undefined ? [] : [`at most ${max}`])].join(', ');
}

function changesText({ changedArguments }: PendingAction): string | undefined {
  if (changedArguments == null) return undefined;
  const changes = Object.entries(changedArguments).map(
    ([path, value]) => `${path} = ${stringifyExactJson(value)}`,
  );
  return `by the approver: ${changes.join(', ')}`;
}

/** Returns who a token verifies, with its issuer and subject; undefined without one. */
function verifiedText({ identity }: PendingAction): string | undefined {
  if (!identity) return undefined;
  const { issuer, subject, agentVerified, principalVerified } = identity;
  const who = [...(agentVerified ? ['agent'] : []), ...(principalVerified ? ['principal'] : [])].join(
    ' and ',
  );
  return `${who || 'no one'} by ${subject} of ${issuer}`;
}

/** Returns the approvals of an action that needs more than one, or only certain approvers; undefined for others. */
function approversText({ approvals }: PendingAction): string | undefined {
  if (approvals === undefined) return undefined;
  const { required, given, approverKeys, approverGroups, notRequester, verifiedPrincipal } = approvals;
  // Other services have no groups.
  const groups = approverGroups ?? null;
  const isPlain = approverKeys === null && groups === null && !notRequester && !verifiedPrincipal;
  if (required === 1 && isPlain) return undefined;
  const names = given.map(({ approvedBy, principal }) => principal ?? approvedBy);
  return [
    `${given.length} of ${required}${names.length === 0 ? '' : ` (${names.join(', ')})`}`,
    ...(approverKeys === null ? [] : [`only ${approverKeys.join(', ')}`]),
    ...(groups === null ? [] : [`only people of ${groups.join(', ')}`]),
    ...(notRequester ? ['not the requester'] : []),
    ...(verifiedPrincipal ? ['only for a verified principal'] : []),
  ].join('; ');
}

function originsText(origins: NonNullable<NonNullable<PendingAction['action']>['origins']>): string {
  return Object.entries(origins)
    .map(([path, { from, toolName }]) => `${path} from ${[from, toolName].filter(Boolean).join(' ')}`)
    .join(', ');
}
