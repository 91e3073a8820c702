import { reservedCategory } from '@actlog/policy';
import { isReservedCategory } from '@actlog/protocol';
import { refusalError } from '../service/api-error.ts';
import type { Route } from '../service/call.ts';

/** `POST /v1/events`. */
export const createEvent: Route<'events.create'> = ({ tenant, body, nowMs, protoKeysRemoved }) => {
  if (isReservedCategory(body.category)) throw refusalError(reservedCategory);
  return tenant.record(body, nowMs, protoKeysRemoved);
};
