import { policyCreate } from '@actlog/protocol/schemas';
import * as z from 'zod';
import { maxActivePolicies } from '../policy/policy-set.ts';
import { time } from './time.ts';

/** The fields of {@link backtestBody}; inferring them would repeat the schema of a policy. */
type BacktestShape = {
  readonly policies: z.ZodArray<typeof policyCreate>;
  readonly mode: z.ZodDefault<z.ZodEnum<{ readonly merge: 'merge'; readonly replace: 'replace' }>>;
  readonly since: z.ZodOptional<z.ZodISODateTime>;
  readonly until: z.ZodOptional<z.ZodISODateTime>;
  readonly countDryRuns: z.ZodDefault<z.ZodBoolean>;
};

/** Body of `POST /server/v1/backtests`. */
export const backtestBody: z.ZodObject<BacktestShape, z.core.$strict> = z.strictObject({
  /** Policies to try, as for `POST /v1/policies`. */
  policies: z.array(policyCreate).min(1).max(maxActivePolicies),
  /**
   * `merge` tries them together with the active policies, and instead of those with the same names; `replace` tries
   * them alone.
   */
  mode: z.enum(['merge', 'replace']).default('merge'),
  /** Time of the earliest decision (inclusive). Default: 30 days ago. */
  since: time.optional(),
  /** Time before which the decisions were made (exclusive). Default: now. */
  until: time.optional(),
  /**
   * Counts dry runs with an `actionId`, which are the calls of observing guards, in rates and in the history, as if they
   * had been enforced.
   */
  countDryRuns: z.boolean().default(false),
});
