import { decisionCategory, isReservedCategory } from '@actlog/protocol';
import { invalid } from '../service/api-error.ts';
import type { Route } from '../service/call.ts';

/** `POST /v1/events`. */
export const createEvent: Route<'events.create'> = ({ tenant, body, nowMs, protoKeysRemoved }) => {
  if (isReservedCategory(body.category)) {
    throw invalid(
      'category',
      'reserved',
      `"${decisionCategory}" is written by the service itself; use another category`,
    );
  }
  return tenant.record(body, nowMs, protoKeysRemoved);
};
