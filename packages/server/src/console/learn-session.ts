import { contract } from '@actlog/protocol/schemas';
import * as z from 'zod';
import { notFound, validationError } from '../http/api-error.ts';
import { requireScope } from '../http/authentication.ts';
import { validated, validator } from '../http/validation.ts';
import { learnConfirmedSession } from '../risk/learning.ts';
import type { Services } from '../services.ts';
import type { ConsoleRoute } from './console-route.ts';

/** The identifier of a session has one form, here as in `/v1`. */
const sessionPath = validator('params', contract['sessions.get'].params);

/** What the route takes: no body, or an empty one. */
const noBody = z.strictObject({}).optional();

/**
 * `POST /console/api/sessions/:id/learn`: a person has found a session to be usual work, though it scored high. It
 * changes how later sessions are judged, as a policy does, so it takes the same scope.
 */
export function learnSessionRoute({ storage }: Services): ConsoleRoute {
  return {
    method: 'POST',
    path: '/sessions/:id/learn',
    success: 200,
    check: (caller) => requireScope(caller, 'manage'),
    async handle({ caller: { tenantId, keyId }, id, body, log }) {
      validated('body', noBody, body);
      sessionPath({ id });
      const outcome = await learnConfirmedSession(storage, tenantId, id, Date.now());
      if (outcome === 'unknown') throw notFound('session');
      if (outcome === 'not-ended') {
        throw validationError(
          'params.id',
          'session_not_ended',
          'is a session that may go on; it can be learned half an hour after its last event',
        );
      }
      log.info({ tenantId, keyId, outcome }, 'session confirmed as usual');
      return { learned: outcome === 'learned' };
    },
  };
}
