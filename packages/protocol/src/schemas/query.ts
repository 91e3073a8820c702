import * as z from 'zod';
import { limits } from '../limits.ts';
import { riskLevel } from './risk.ts';
import { identifier, strictObject, timestamp } from './scalar.ts';

/** Documents the parsed value instead of the query string. */
function documentedAs(schema: Record<string, unknown>) {
  return {
    override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
      Object.assign(jsonSchema, schema);
    },
  };
}

/** Creates a schema for an integer in a query string. */
function wholeNumber(minimum: number, maximum: number, byDefault: number) {
  return z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${minimum} to ${maximum}`)
    .transform(Number)
    .pipe(z.number().int().min(minimum).max(maximum))
    .meta(documentedAs({ type: 'integer', minimum, maximum, default: byDefault }));
}

/** Creates a schema for a number as `String` formats it, such as 92.21000000000001 or 1e-7. */
function decimalNumber(minimum: number, maximum: number) {
  return z
    .string()
    .regex(/^\d{1,9}(\.\d{1,25})?(e-\d{1,3})?$/, `must be a number from ${minimum} to ${maximum}`)
    .transform(Number)
    .pipe(z.number().min(minimum).max(maximum))
    .meta(documentedAs({ type: 'number', minimum, maximum }));
}

/** A boolean in a query string: `true` or `false`. */
export const flag = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .meta(documentedAs({ type: 'boolean' }));

const page = {
  /** Maximum number of results, from 1 to 200; 50 by default. */
  limit: wholeNumber(1, limits.maxPageSize, limits.defaultPageSize).optional(),
  /** Opaque: the `nextCursor` of the previous page, with all other parameters unchanged; omitted for the first page. */
  cursor: z.string().min(1).max(4096).optional(),
} as const;

const sessionFilters = {
  /** `startedAt` lists the newest sessions first; `riskScore` the highest scores first, and of equal ones the newest. `startedAt` by default. */
  sort: z.enum(['startedAt', 'riskScore']).optional(),
  /** Only sessions whose `startedAt` is later than this time (exclusive). */
  startedAfter: timestamp.optional(),
  /** Only sessions whose `startedAt` is earlier than this time (exclusive). */
  startedBefore: timestamp.optional(),
  /** Only sessions with at least this risk score; unscored sessions are excluded. */
  minRiskScore: decimalNumber(0, 100).optional(),
  /** Only sessions whose current risk is of this level. */
  level: riskLevel.optional(),
  /** Only sessions in which this tool was called. */
  toolName: identifier.optional(),
  /** Only sessions with a failed tool call (`errors`), an action that a policy or an approver denied (`denied`), or an action that was held for approval (`held`). */
  status: z.enum(['errors', 'denied', 'held']).optional(),
  /** Only sessions whose id contains this text, in upper or lower case. */
  idContains: identifier.optional(),
} as const;

/** `limit` and `cursor` (specification, "List endpoints"). */
export const pageQuery = strictObject(page);

/** Filters of `GET /v1/sessions`. */
export const sessionsQuery = strictObject({
  ...page,
  /** Only sessions in which this agent acted, even if another agent opened them. */
  agentId: identifier.optional(),
  /** Only sessions in which an agent acted whose id contains this text, in upper or lower case. */
  agentIdContains: identifier.optional(),
  ...sessionFilters,
});

/** Filters of `GET /v1/agents/:id/sessions`; the agent is in the path. */
export const agentSessionsQuery = strictObject({ ...page, ...sessionFilters });

/** Filters of `GET /v1/agents`. */
export const agentsQuery = strictObject({
  ...page,
  /** `true` for registered agents, `false` for agents known only from their events; all if omitted. */
  registered: flag.optional(),
  /** Only agents with this status; all if omitted. */
  status: z.enum(['active', 'revoked']).optional(),
});

/** Filters of `GET /v1/policies`. */
export const policiesQuery = strictObject({
  ...page,
  /** Only policies with this status; all if omitted, including archived ones. */
  status: z.enum(['active', 'archived']).optional(),
});

/** Filters of `GET /v1/guardian/pending-actions`. */
export const pendingActionsQuery = strictObject({
  ...page,
  /** Only actions with this status; `pending` by default. */
  status: z.enum(['pending', 'approved', 'denied', 'expired', 'withdrawn']).optional(),
  /** Only actions of this agent. */
  agentId: identifier.optional(),
  /** Only actions of this session. */
  sessionId: identifier.optional(),
});

/** Query parameters of endpoints without any. */
export const noQuery = strictObject({});
