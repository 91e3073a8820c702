import type { Check } from './check.ts';
import { archivingChecks } from './checks/archiving.ts';
import { authenticationChecks } from './checks/authentication.ts';
import { clientChecks } from './checks/client.ts';
import { errorChecks, limitChecks } from './checks/errors.ts';
import { eventChecks, eventFieldChecks } from './checks/events.ts';
import { guardianChecks, referenceApprovalChecks, referenceGuardChecks } from './checks/guardian.ts';
import { listChecks } from './checks/lists.ts';
import { readBackChecks, recordChecks } from './checks/read-back.ts';
import { referenceListChecks } from './checks/reference/lists.ts';
import {
  argumentOriginChecks,
  referenceEventChecks,
  referenceRecordChecks,
} from './checks/reference/records.ts';
import { riskChecks, shapeChecks } from './checks/risk.ts';
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
