import type { Migration } from '../migrate.ts';
import { initial } from './sqlite/0001-initial.ts';
import { policies } from './sqlite/0002-policies.ts';
import { webhooks } from './sqlite/0003-webhooks.ts';
import { risk } from './sqlite/0004-risk.ts';
import { toolTags } from './sqlite/0005-tool-tags.ts';
import { riskBands } from './sqlite/0006-risk-bands.ts';
import { quotas } from './sqlite/0007-quotas.ts';
import { webhookRotation } from './sqlite/0008-webhook-rotation.ts';
import { ages } from './sqlite/0009-ages.ts';
import { deletedTenants } from './sqlite/0010-deleted-tenants.ts';
import { countedQuotas } from './sqlite/0011-counted-quotas.ts';
import { lowerCaseEventIds } from './sqlite/0012-lower-case-event-ids.ts';
import { activePolicies } from './sqlite/0013-active-policies.ts';
import { singleUseApprovals } from './sqlite/0014-single-use-approvals.ts';
import { policyDecisions } from './sqlite/0015-policy-decisions.ts';
import { callHistories } from './sqlite/0016-call-histories.ts';
import { approvals } from './sqlite/0017-approvals.ts';
import { sessionSearch } from './sqlite/0018-session-search.ts';
import { activity } from './sqlite/0019-activity.ts';
import { sessionCalls } from './sqlite/0020-session-calls.ts';
import { auditLog } from './sqlite/0021-audit-log.ts';
import { signIns } from './sqlite/0022-sign-ins.ts';
import { keyAgents } from './sqlite/0023-key-agents.ts';

/** All migrations of SQLite, oldest first. A released migration is never changed. */
export const sqliteMigrations: readonly Migration[] = [
  initial,
  policies,
  webhooks,
  risk,
  toolTags,
  riskBands,
  quotas,
  webhookRotation,
  ages,
  deletedTenants,
  countedQuotas,
  lowerCaseEventIds,
  activePolicies,
  singleUseApprovals,
  policyDecisions,
  callHistories,
  approvals,
  sessionSearch,
  activity,
  sessionCalls,
  auditLog,
  signIns,
  keyAgents,
];
