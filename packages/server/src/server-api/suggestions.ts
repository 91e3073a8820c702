import * as z from 'zod';
import { requireScope } from '../http/authentication.ts';
import type { ServerRoute } from '../http/server-route.ts';
import type { Services } from '../services.ts';
import { suggestedAgents, suggestedTools } from '../storage/sessions/suggested-names.ts';

/** Maximum names in one response. */
const maxSuggestions = 20;

/** Query of `GET /server/v1/suggestions`. */
const suggestionsQuery = z.strictObject({
  /** Filter of sessions to suggest values for. */
  field: z.enum(['agentId', 'toolName']),
  /** Only names that contain this text, in upper or lower case. */
  contains: z.string().min(1).max(200).optional(),
});

/** Route `GET /server/v1/suggestions`: names for a filter of sessions, at most 20, in alphabetical order. */
export function suggestionsRoute({ storage }: Services): ServerRoute<typeof suggestionsQuery> {
  return {
    method: 'GET',
    path: '/suggestions',
    success: 200,
    query: suggestionsQuery,
    check: (caller) => requireScope(caller, 'read'),
    async handle({ caller: { tenantId }, query: { field, contains = '' } }) {
      const suggested = field === 'agentId' ? suggestedAgents : suggestedTools;
      return {
        items: await storage.read(tenantId, (db) => suggested(db, tenantId, contains, maxSuggestions)),
      };
    },
  };
}
