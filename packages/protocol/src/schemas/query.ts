import * as z from 'zod';
import { limits } from '../limits.ts';
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
function wholeNumber(minimum: number, maximum: number) {
  return z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().int().min(minimum).max(maximum))
    .meta(documentedAs({ type: 'integer', minimum, maximum }));
}

/** A number as `String` writes it, such as 92.21000000000001 or 1e-7. */
function decimalNumber(minimum: number, maximum: number) {
  return z
    .string()
    .regex(/^\d{1,9}(\.\d{1,25})?(e-\d{1,3})?$/, 'must be a number')
    .transform(Number)
    .pipe(z.number().min(minimum).max(maximum))
    .meta(documentedAs({ type: 'number', minimum, maximum }));
}

const flag = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .meta(documentedAs({ type: 'boolean' }));

/** `limit` and `cursor` (specification, "List endpoints"). */
export const pageQuery = z.strictObject({
  limit: wholeNumber(1, limits.maxPageSize)
    .optional()
    .meta({ description: `Page size, ${limits.defaultPageSize} by default.` }),
  cursor: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .meta({ description: 'Opaque value taken from nextCursor of the previous page.' }),
});

/** Filters of `GET /v1/sessions`. */
export const sessionsQuery = pageQuery.extend({
  agentId: identifier.optional(),
  /** Only sessions that began later; one of that very moment is left out. */
  startedAfter: timestamp.optional(),
  /** Only sessions that began earlier; one of that very moment is left out. */
  startedBefore: timestamp.optional(),
  minRiskScore: decimalNumber(0, 100).optional(),
});

/** Filters of `GET /v1/agents/:id/sessions`: the agent stands in the path. */
export const agentSessionsQuery = sessionsQuery.omit({ agentId: true });

/** Filters of `GET /v1/agents`. */
export const agentsQuery = pageQuery.extend({
  registered: flag.optional(),
  status: z.enum(['active', 'revoked']).optional(),
});

/** Filters of `GET /v1/policies`. */
export const policiesQuery = pageQuery.extend({ status: z.enum(['active', 'archived']).optional() });

/** Filters of `GET /v1/guardian/pending-actions`; `status` is `pending` when left out. */
export const pendingActionsQuery = pageQuery.extend({
  status: z.enum(['pending', 'approved', 'denied', 'expired']).optional(),
  agentId: identifier.optional(),
  sessionId: identifier.optional(),
});

/** For endpoints without query parameters. */
export const noQuery = z.strictObject({});
