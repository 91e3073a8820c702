/**
 * Zod schemas of the wire. This entry point loads zod; code that only needs names and types imports
 * `@actlog/protocol`.
 *
 * @packageDocumentation
 */
export { type Contract, contract, type EndpointSchemas } from './contract.ts';
export { agent, agentCreate, agentUpdate } from './schemas/agent.ts';
export {
  argumentOrigin,
  argumentOrigins,
  argumentOriginsPayload,
  storedArgumentOrigin,
  storedArgumentOrigins,
} from './schemas/argument-origin.ts';
export { checkResult, policyCheck, policyMatched, proposedAction } from './schemas/check.ts';
export {
  event,
  eventAck,
  eventWarning,
  openPayload,
  storedEvent,
  subagentCallPayload,
  toolCallPayload,
} from './schemas/event.ts';
export {
  notificationChannel,
  notificationChannelCreate,
  notificationChannelCreated,
} from './schemas/notification-channel.ts';
export { decide, givenApproval, grantChoice, pendingAction } from './schemas/pending-action.ts';
export {
  editableArgument,
  policy,
  policyApproval,
  policyCreate,
  policyMatch,
  policyRate,
  policySchedule,
  policyUpdate,
} from './schemas/policy.ts';
export { flag, pageQuery } from './schemas/query.ts';
export {
  type Accepted,
  errorDetail,
  errorEnvelope,
  type ResourceSchema,
  type Sent,
} from './schemas/resource.ts';
export {
  risk,
  riskDimension,
  riskDimensionIds,
  riskFactor,
  riskLevel,
  riskRecommendation,
} from './schemas/risk.ts';
export { fixedPage, sentPage } from './schemas/scalar.ts';
export { session, sessionDetail, sessionExport } from './schemas/session.ts';
export { webhookEvent } from './schemas/webhook-event.ts';
