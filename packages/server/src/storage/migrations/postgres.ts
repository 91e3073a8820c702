import type { Migration } from '../migrate.ts';
import { tables } from './postgres/0001-tables.ts';
import { rowSecurity } from './postgres/0002-row-security.ts';
import { toolTags } from './postgres/0003-tool-tags.ts';
import { riskBands } from './postgres/0004-risk-bands.ts';
import { quotas } from './postgres/0005-quotas.ts';
import { webhookRotation } from './postgres/0006-webhook-rotation.ts';
import { ages } from './postgres/0007-ages.ts';
import { deletedTenants } from './postgres/0008-deleted-tenants.ts';
import { countedQuotas } from './postgres/0009-counted-quotas.ts';
import { lowerCaseEventIds } from './postgres/0010-lower-case-event-ids.ts';
import { activePolicies } from './postgres/0011-active-policies.ts';
import { singleUseApprovals } from './postgres/0012-single-use-approvals.ts';
import { policyDecisions } from './postgres/0013-policy-decisions.ts';
import { callHistories } from './postgres/0014-call-histories.ts';
import { approvals } from './postgres/0015-approvals.ts';
import { sessionSearch } from './postgres/0016-session-search.ts';
import { activity } from './postgres/0017-activity.ts';
import { sessionCalls } from './postgres/0018-session-calls.ts';
import { auditLog } from './postgres/0019-audit-log.ts';
import { signIns } from './postgres/0020-sign-ins.ts';
import { keyAgents } from './postgres/0021-key-agents.ts';

/** All migrations of PostgreSQL, oldest first. A released migration is never changed. */
export const postgresMigrations: readonly Migration[] = [
  tables,
  rowSecurity,
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
