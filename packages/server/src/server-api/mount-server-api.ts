import { flag, pageQuery } from '@actlog/protocol/schemas';
import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { unknownRouteHandler } from '../http/errors.ts';
import type { ServingParts } from '../http/mount.ts';
import { requireScope } from '../http/request-gate.ts';
import { type ListParts, listRoute, mountServerRoute, type ServerRoute } from '../http/server-route.ts';
import { timeMs } from '../lib/iso-time.ts';
import { listPolicyDecisions } from '../storage/policies/policy-decision-store.ts';
import { type AlertRuleParts, alertRuleRoutes } from './alert-rules.ts';
import {
  decideActionsRoute,
  type GrantListParts,
  grantsRoute,
  pendingActionRoute,
  type RevocationParts,
  revokeGrantRoute,
  type WithdrawalParts,
  withdrawActionRoute,
} from './approvals.ts';
import { auditRoute, type KeptRecordsParts, keptRecordsRoutes, legalHoldsRoute } from './audit.ts';
import { type BacktestParts, backtestsRoute, decisionView } from './backtests.ts';
import { type ChannelApiParts, channelDeliveriesRoute, channelRoutes } from './channels.ts';
import { type DeniedToolsParts, deniedToolsRoute } from './denied-tools.ts';
import { type EventSearchParts, eventsRoute } from './events.ts';
import { type JudgmentParts, judgmentRoutes, judgmentsRoute } from './judgments.ts';
import { type EvidenceParts, evidenceRoute, feedRoute, type LogParts, receiptRoute } from './log-routes.ts';
import { activityRoute, type NamedActivityParts, namedActivityRoutes } from './named-activity.ts';
import { overviewRoute } from './overview.ts';
import { sessionMarksRoute, sessionPlaceRoute } from './session-marks.ts';
import { assignedSessionsRoute, sessionReviewRoutes } from './session-review.ts';
import { suggestionsRoute } from './suggestions.ts';
import { type TrialParts, trialsRoute } from './trials.ts';
import { deliveriesRoute, type WebhookParts, webhookChangeRoutes, webhookRoute } from './webhooks.ts';

const folder = '/server/v1';

/** Parts of the routes of {@link mountServerApi}. */
export type ServerApiParts = ServingParts &
  BacktestParts &
  TrialParts &
  DeniedToolsParts &
  WithdrawalParts &
  GrantListParts &
  RevocationParts &
  WebhookParts &
  ChannelApiParts &
  AlertRuleParts &
  JudgmentParts &
  EventSearchParts &
  NamedActivityParts &
  KeptRecordsParts &
  EvidenceParts &
  LogParts;

/**
 * Mounts the endpoints that this server adds to the specification. They are for scripts, the command and the console,
 * and are not in the endpoint table or in `/openapi.json`, which describe what every service has.
 */
export async function mountServerApi(app: FastifyInstance, parts: ServerApiParts): Promise<void> {
  const routes = [
    decisionsRoute(parts),
    backtestsRoute(parts),
    trialsRoute(parts),
    deniedToolsRoute(parts),
    decideActionsRoute(parts),
    pendingActionRoute(parts),
    withdrawActionRoute(parts),
    grantsRoute(parts),
    revokeGrantRoute(parts),
    overviewRoute(parts),
    eventsRoute(parts),
    ...namedActivityRoutes(parts),
    auditRoute(parts),
    webhookRoute(parts),
    deliveriesRoute(parts),
    ...webhookChangeRoutes(parts),
    ...channelRoutes(parts),
    channelDeliveriesRoute(parts),
    ...alertRuleRoutes(parts),
    judgmentsRoute(parts),
    ...judgmentRoutes(parts),
    ...sessionReviewRoutes(parts),
    sessionMarksRoute(parts),
    sessionPlaceRoute(parts),
    receiptRoute(parts),
    ...keptRecordsRoutes(parts),
  ];
  const suggestions = suggestionsRoute(parts);
  const activity = activityRoute(parts);
  const assigned = assignedSessionsRoute(parts);
  const holds = legalHoldsRoute(parts);
  const feed = feedRoute(parts);
  const evidence = evidenceRoute(parts);
  await app.register(
    async (api) => {
      api.setNotFoundHandler(
        unknownRouteHandler(
          [...routes, suggestions, activity, assigned, holds, feed, evidence].map(({ method, path }) => ({
            method,
            path: folder + path,
          })),
        ),
      );
      mountServerRoute(api, parts, suggestions);
      mountServerRoute(api, parts, activity);
      mountServerRoute(api, parts, assigned);
      mountServerRoute(api, parts, holds);
      mountServerRoute(api, parts, feed);
      mountServerRoute(api, parts, evidence);
      for (const route of routes) mountServerRoute(api, parts, route);
    },
    { prefix: folder },
  );
}

/** Route `GET /server/v1/decisions`: decisions of the policies, newest first. */
function decisionsRoute(parts: ListParts): ServerRoute<typeof decisionsQuery> {
  return listRoute(parts, {
    name: 'decisions',
    query: decisionsQuery,
    check: (caller) => requireScope(caller, 'read'),
    rows: (db, { tenantId, query: { limit: _limit, cursor: _cursor, since, until, ...filters } }, page) =>
      listPolicyDecisions(db, { tenantId, filters: { ...filters, sinceMs: since, untilMs: until }, ...page }),
    view: (row) => decisionView(row),
  });
}

/** Query of `GET /server/v1/decisions`. */
const decisionsQuery = z.strictObject({
  ...pageQuery.shape,
  /** Only decisions about this agent. */
  agentId: z.string().min(1).optional(),
  /** Only decisions about actions of this session. */
  sessionId: z.string().min(1).optional(),
  /** Only decisions about calls of this tool. */
  toolName: z.string().min(1).optional(),
  /** Only these decisions. Held actions that wait are `require_approval`; those that have ended have their outcome. */
  decision: z.enum(['allow', 'deny', 'require_approval']).optional(),
  /** `true` for dry runs only, `false` for checks with effects only; both if omitted. */
  dryRun: flag.optional(),
  /** `true` for actions that are or were held only, `false` for the others only; both if omitted. */
  held: flag.optional(),
  /** Earliest time of a check (inclusive). */
  since: timeMs.optional(),
  /** Time before which the action was checked (exclusive). */
  until: timeMs.optional(),
});
