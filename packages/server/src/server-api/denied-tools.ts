import { checkedAction, deniedTools } from '@actlog/policy';
import { contract } from '@actlog/protocol/schemas';
import * as z from 'zod';
import { requireScope } from '../http/request-gate.ts';
import { validated } from '../http/request-input.ts';
import type { ServerRoute } from '../http/server-route.ts';
import type { TenantTurns, Turn } from '../lib/tenant-turns.ts';
import type { PolicySets } from '../policy/policy-set.ts';
import type { Storage } from '../storage/storage.ts';
import { requireAgent } from '../tenants/key-ring.ts';

const { agentId, framework, environment, action } = contract['policies.check'].body.shape;

/** Maximum number of tools of a request. */
const maxTools = 1000;

/** Body of `POST /server/v1/denied-tools`. */
const deniedToolsBody = z.strictObject({
  agentId,
  framework,
  environment,
  /** Names of tools, as in a check. */
  tools: z.array(action.shape.toolName).min(1).max(maxTools),
});

/** Tools evaluated before other requests get their turn. */
const toolsInTurn = 20;

/** Parts of {@link deniedToolsRoute}. */
export interface DeniedToolsParts {
  readonly storage: Storage;
  readonly policySets: PolicySets;
  /** Shares the event loop between the checks of tenants. */
  readonly tenantTurns: TenantTurns;
}

/**
 * Route `POST /server/v1/denied-tools`: the tools that policies deny an agent whatever the arguments, the time and the
 * earlier calls are. A program that offers tools to an agent can leave them out. A key that is bound to agents learns nothing
 * about others. Nothing is held, counted or kept.
 */
export function deniedToolsRoute({ storage, policySets, tenantTurns }: DeniedToolsParts): ServerRoute {
  return {
    method: 'POST',
    path: '/denied-tools',
    success: 200,
    check: (caller) => requireScope(caller, 'ingest'),
    async handle({ caller, body, disconnected }) {
      const { tenantId } = caller;
      const { tools, ...names } = validated('body', deniedToolsBody, body);
      requireAgent(caller, names.agentId);
      const { policies } = await storage.read(tenantId, (db) => policySets.of(db, tenantId));
      const denies = deniedTools(policies);
      const isDenied = (toolName: string) =>
        denies(checkedAction({ ...names, action: { toolName, argumentsHash: '' } }));
      const work = async (turn: Turn) => {
        const denied: string[] = [];
        for (let index = 0; index < tools.length; index += toolsInTurn) {
          if (index > 0) await turn();
          denied.push(...tools.slice(index, index + toolsInTurn).filter(isDenied));
        }
        return { denied };
      };
      return tenantTurns.run(tenantId, work, disconnected);
    },
  };
}
