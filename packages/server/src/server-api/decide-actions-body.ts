import { maxDecisionsAtOnce } from '@actlog/protocol';
import { decide } from '@actlog/protocol/schemas';
import * as z from 'zod';

type DecisionShape = (typeof decide)['shape'] & { readonly id: z.ZodString };

/** The fields of {@link decideActionsBody}; inferring them would repeat the schema of a decision. */
type DecideActionsShape = {
  readonly decisions: z.ZodArray<z.ZodObject<DecisionShape, z.core.$strict>>;
};

/** Body of `POST /server/v1/pending-actions/decide`. */
export const decideActionsBody: z.ZodObject<DecideActionsShape, z.core.$strict> = z.strictObject({
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
