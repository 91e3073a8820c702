import type { OwnRoute } from '../http/route.ts';
import { notFound } from '../lib/api-error.ts';
import { readRisk } from '../risk/read-risk.ts';
import type { Services } from '../services.ts';

/** Route `GET /v1/sessions/:id/risk`: the score over ten dimensions, with its factors. */
export function getRisk(services: Services): OwnRoute<'sessions.risk'> {
  return {
    kind: 'own',
    async handle({ caller, params, receivedMs }) {
      const found = await readRisk(services, caller.tenantId, params.id, receivedMs);
      if (!found) throw notFound('session');
      return found.risk;
    },
  };
}
