import { limits } from '@actlog/protocol';
import * as z from 'zod';

const time = z.iso
  .datetime({ offset: true, error: 'must be a time in ISO 8601, such as 2026-01-31T12:00:00.000Z' })
  .transform((text) => Date.parse(text));

/** Query of `GET /server/v1/decisions`. */
export const decisionsQuery = z.strictObject({
  /** Maximum number of decisions on the page, from 1 to 200; 50 by default. */
  limit: z
    .string()
    .regex(/^\d{1,3}$/, `must be a whole number from 1 to ${limits.maxPageSize}`)
    .transform(Number)
    .pipe(z.number().int().min(1).max(limits.maxPageSize))
    .optional(),
  /** The `nextCursor` of the previous page, with the other parameters unchanged. */
  cursor: z.string().min(1).max(4096).optional(),
  /** Only decisions about this agent. */
  agentId: z.string().min(1).optional(),
  /** Only decisions about actions of this session. */
  sessionId: z.string().min(1).optional(),
  /** Only decisions about calls of this tool. */
  toolName: z.string().min(1).optional(),
  /** Only these decisions. */
  decision: z.enum(['allow', 'deny', 'require_approval']).optional(),
  /** `true` for dry runs only, `false` for checks with effects only; both if omitted. */
  dryRun: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
  /** Earliest time of a decision (inclusive). */
  since: time.optional(),
  /** Time before which a decision was made (exclusive). */
  until: time.optional(),
});
