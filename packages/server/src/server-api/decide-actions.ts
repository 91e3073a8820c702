import {
  type ActionDecisionResult,
  type ActionDecisionResults,
  maxDecisionsAtOnce,
  type PendingAction,
  type SentOf,
} from '@actlog/protocol';
import { decide } from '@actlog/protocol/schemas';
import * as z from 'zod';
import { actorOf } from '../audit/actor.ts';
import { type ActionDecision, decideAction } from '../guardian/decide-action.ts';
import { requireScope } from '../http/authentication.ts';
import { apiError } from '../http/errors.ts';
import type { ServerCall, ServerRoute } from '../http/server-route.ts';
import { validated } from '../http/validation.ts';
import type { Services } from '../services.ts';

/**
 * Route `POST /server/v1/pending-actions/decide`: decides up to 100 held actions. Each is decided in its own transaction
 * and has its own result, so a decision that is refused does not affect the others.
 */
export function decideActionsRoute(services: Services): ServerRoute {
  return {
    method: 'POST',
    path: '/pending-actions/decide',
    success: 200,
    check: (caller) => requireScope(caller, 'decide'),
    async handle(call): Promise<ActionDecisionResults> {
      const { decisions } = validated('body', decideActionsBody, call.body);
      const actor = actorOf(services, call);
      const { tenantId } = call.caller;
      const results: ActionDecisionResult[] = [];
      // One after the other: transactions at the same time could wait for each other's sessions.
      for (const { id, ...body } of decisions) {
        results.push(await resultOf(services, call, { tenantId, actor, id, body }));
      }
      return { results };
    },
  };
}

async function resultOf(
  services: Services,
  { log, caller: { tenantId } }: ServerCall,
  decision: ActionDecision,
): Promise<ActionDecisionResult> {
  const { id } = decision;
  try {
    const action = await services.writeTurns.run(tenantId, () =>
      services.storage.write(tenantId, (write) => decideAction(services, write, decision)),
    );
    return { id, action: withoutArguments(action), error: null };
  } catch (error) {
    const { code, envelope } = apiError(error);
    // The caller gets the other results, so the failure is logged here.
    if (code === 'INTERNAL') log.error({ err: error }, 'decision failed');
    return { id, action: null, error: envelope.error };
  }
}

/** A hundred actions can have megabytes of shown arguments, which the approver has seen. */
function withoutArguments({
  action: { toolName, argumentsHash },
  ...rest
}: SentOf<'guardian.pendingActions.decide'>): PendingAction {
  return { ...rest, action: { toolName, argumentsHash } };
}

type DecisionShape = (typeof decide)['shape'] & { readonly id: z.ZodString };

/** The fields of {@link decideActionsBody}; inferring them would repeat the schema of a decision. */
type DecideActionsShape = {
  readonly decisions: z.ZodArray<z.ZodObject<DecisionShape, z.core.$strict>>;
};

/** Body of `POST /server/v1/pending-actions/decide`. */
const decideActionsBody: z.ZodObject<DecideActionsShape, z.core.$strict> = z.strictObject({
  /** Decisions, each about another action. */
  decisions: z
    .array(z.strictObject({ ...decide.shape, id: z.string().min(1) }))
    .min(1)
    .max(maxDecisionsAtOnce)
    .refine(
      (decisions) => new Set(decisions.map(({ id }) => id)).size === decisions.length,
      'must name each action once',
    ),
});
