import * as z from 'zod';
import { limits } from '../limits.ts';
import { strictObject } from './object.ts';
import { identifier, timestamp } from './scalar.ts';

/** Documents the value that a query string stands for, not the string. */
function documentedAs(schema: Record<string, unknown>) {
  return {
    override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
      Object.assign(jsonSchema, schema);
    },
  };
}

/** A whole number as a query string writes it. */
function wholeNumber(minimum: number, maximum: number, byDefault: number) {
  return z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${minimum} to ${maximum}`)
    .transform(Number)
    .pipe(z.number().int().min(minimum).max(maximum))
    .meta(documentedAs({ type: 'integer', minimum, maximum, default: byDefault }));
}

/** A number as `String` writes it, such as 92.21000000000001 or 1e-7. */
function decimalNumber(minimum: number, maximum: number) {
  return z
    .string()
    .regex(/^\d{1,9}(\.\d{1,25})?(e-\d{1,3})?$/, `must be a number from ${minimum} to ${maximum}`)
    .transform(Number)
    .pipe(z.number().min(minimum).max(maximum))
    .meta(documentedAs({ type: 'number', minimum, maximum }));
}

const flag = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .meta(documentedAs({ type: 'boolean' }));

const page = {
  /** Most results of the page, from 1 to 200; 50 by default. */
  limit: wholeNumber(1, limits.maxPageSize, limits.defaultPageSize).optional(),
  /** Opaque: the `nextCursor` of the page before, with all else the same; left out for the first page. */
  cursor: z.string().min(1).max(4096).optional(),
} as const;

const sessionFilters = {
  /** Only sessions that began later, by `startedAt`; one of that very moment is left out. */
  startedAfter: timestamp.optional(),
  /** Only sessions that began earlier, by `startedAt`; one of that very moment is left out. */
  startedBefore: timestamp.optional(),
  /** Only sessions with this risk score or a higher one; one that was not scored is left out. */
  minRiskScore: decimalNumber(0, 100).optional(),
} as const;

/** `limit` and `cursor` (specification, "List endpoints"). */
export const pageQuery = strictObject(page);

/** Filters of `GET /v1/sessions`. */
export const sessionsQuery = strictObject({
  ...page,
  /** Only sessions in which this agent acted, whoever opened them. */
  agentId: identifier.optional(),
  ...sessionFilters,
});

/** Filters of `GET /v1/agents/:id/sessions`: the agent stands in the path. */
export const agentSessionsQuery = strictObject({ ...page, ...sessionFilters });

/** Filters of `GET /v1/agents`. */
export const agentsQuery = strictObject({
  ...page,
  /** `true` for agents that someone registered, `false` for those only seen; left out: all. */
  registered: flag.optional(),
  /** Only agents of this status; left out: all. */
  status: z.enum(['active', 'revoked']).optional(),
});

/** Filters of `GET /v1/policies`. */
export const policiesQuery = strictObject({
  ...page,
  /** Only policies of this status; left out: all, archived ones too. */
  status: z.enum(['active', 'archived']).optional(),
});

/** Filters of `GET /v1/guardian/pending-actions`. */
export const pendingActionsQuery = strictObject({
  ...page,
  /** Only actions of this status; `pending` when left out. */
  status: z.enum(['pending', 'approved', 'denied', 'expired']).optional(),
  /** Only actions of this agent. */
  agentId: identifier.optional(),
  /** Only actions of this session. */
  sessionId: identifier.optional(),
});

/** For endpoints without query parameters. */
export const noQuery = strictObject({});
