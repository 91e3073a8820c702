import { contract } from '@actlog/protocol/schemas';
import * as z from 'zod';
import { auditRequest } from '../audit/audit-request.ts';
import { requireScope } from '../http/authentication.ts';
import { callerFields } from '../http/caller-fields.ts';
import type { ServerRoute } from '../http/server-route.ts';
import { validated, validator } from '../http/validation.ts';
import { notFound, validationError } from '../lib/api-error.ts';
import { learnConfirmedSession } from '../risk/learning.ts';
import type { Services } from '../services.ts';

/** Validator of the session id, the same as in `/v1`. */
const sessionPath = validator('params', contract['sessions.get'].params);

/** Body of the route: missing or empty. */
const noBody = z.strictObject({}).optional();

/**
 * Route `POST /console/api/sessions/:id/learn`: confirms a session with a high score as expected behavior. Like a
 * policy, it changes how later sessions are judged, so it requires the same scope.
 */
export function learnSessionRoute(services: Services): ServerRoute {
  return {
    method: 'POST',
    path: '/sessions/:id/learn',
    success: 200,
    check: (caller) => requireScope(caller, 'manage'),
    async handle(call) {
      const { caller, id, body, log } = call;
      validated('body', noBody, body);
      sessionPath({ id });
      const outcome = await learnConfirmedSession(services.storage, caller.tenantId, id, Date.now(), (db) =>
        auditRequest(services, db, call, {
          action: 'session.confirmed',
          target: { id, name: null },
          changes: [],
        }),
      );
      if (outcome === 'unknown') throw notFound('session');
      if (outcome === 'not-ended') {
        throw validationError(
          'params.id',
          'session_not_ended',
          'is a session that has not ended; it can be learned half an hour after its last event',
        );
      }
      log.info({ ...callerFields(caller), outcome }, 'session confirmed as expected behavior');
      return { learned: outcome === 'learned' };
    },
  };
}
