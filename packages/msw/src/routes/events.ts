import { invalid } from '../service/api-error.ts';
import type { Route } from '../service/call.ts';

/** The category that only the service writes: a decision that a sender could claim would prove nothing. */
const reserved = 'guardian_decision';

/** `POST /v1/events`. */
export const createEvent: Route<'events.create'> = ({ tenant, body, nowMs, protoKeysRemoved }) => {
  if (body.category === reserved) {
    throw invalid(
      'category',
      'reserved',
      `"${reserved}" is written by the service itself; use another category`,
    );
  }
  return tenant.record(body, nowMs, protoKeysRemoved);
};
