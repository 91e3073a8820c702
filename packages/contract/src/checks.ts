import type { Check } from './check.ts';
import { archivingChecks } from './checks/archiving.ts';
import { authenticationChecks } from './checks/authentication.ts';
import { clientChecks } from './checks/client.ts';
import { errorChecks } from './checks/errors.ts';
import { eventFieldChecks } from './checks/event-fields.ts';
import { eventChecks } from './checks/events.ts';
import { guardianChecks } from './checks/guardian.ts';
import { limitChecks } from './checks/limits.ts';
import { listChecks } from './checks/lists.ts';
import { readBackChecks } from './checks/read-back.ts';
import { recordChecks } from './checks/records.ts';
import { referenceApprovalChecks } from './checks/reference/approvals.ts';
import { argumentOriginChecks } from './checks/reference/argument-origins.ts';
import { referenceEventChecks } from './checks/reference/events.ts';
import { referenceGuardChecks } from './checks/reference/guard.ts';
import { referenceListChecks } from './checks/reference/lists.ts';
import { referenceRecordChecks } from './checks/reference/records.ts';
import { shapeChecks } from './checks/reference/shapes.ts';
import { riskChecks } from './checks/risk.ts';
import { sessionChecks } from './checks/sessions.ts';
import { tenantChecks } from './checks/tenants.ts';

/** All checks, in the order in which they run. */
export const checks: readonly Check[] = [
  ...authenticationChecks,
  ...eventFieldChecks,
  ...eventChecks,
  ...readBackChecks,
  ...sessionChecks,
  ...riskChecks,
  ...listChecks,
  ...recordChecks,
  ...archivingChecks,
  ...guardianChecks,
  ...tenantChecks,
  ...clientChecks,
  ...errorChecks,
  ...limitChecks,
  ...shapeChecks,
  ...referenceEventChecks,
  ...referenceListChecks,
  ...referenceRecordChecks,
  ...referenceGuardChecks,
  ...referenceApprovalChecks,
  ...argumentOriginChecks,
];
