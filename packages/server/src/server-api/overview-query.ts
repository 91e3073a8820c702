import { flag } from '@actlog/protocol/schemas';
import * as z from 'zod';
import { time } from './time.ts';

const timeMs = time.transform((text) => Date.parse(text));

/** Query of `GET /server/v1/overview`. */
export const overviewQuery = z.strictObject({
  /** Earliest time (inclusive), rounded down to the start of a bucket. Default: 24 hours before `until`. */
  since: timeMs.optional(),
  /** Latest time (exclusive), rounded up to the end of a bucket. Default: now. */
  until: timeMs.optional(),
  /** Length of a bucket. */
  interval: z.enum(['5m', 'hour', 'day']).default('hour'),
  /** `true` if the riskiest sessions include those that a person handled and whose score has not risen since. */
  handled: flag.default(false),
});
