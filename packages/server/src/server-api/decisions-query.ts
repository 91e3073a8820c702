import { flag, pageQuery } from '@actlog/protocol/schemas';
import * as z from 'zod';
import { timeMs } from './time.ts';

/** Query of `GET /server/v1/decisions`. */
export const decisionsQuery = z.strictObject({
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
