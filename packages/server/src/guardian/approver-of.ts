import type { Approver } from '@actlog/policy';
import type { Services } from '../services.ts';
import { type ActingRequest, actorOf } from '../users/actor-of.ts';

/**
 * Returns the approver who sends a request, as the rules about approvals see it.
 *
 * @throws ApiError `VALIDATION_ERROR` for a name that is too long.
 */
export function approverOf(services: Pick<Services, 'principalHeader'>, request: ActingRequest): Approver {
  const { id, principal } = actorOf(services, request);
  return { key: id, principal };
}
