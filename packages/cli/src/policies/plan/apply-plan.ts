import type { Actlog } from '@actlog/client';
import { describeError } from '../../errors/describe-error.ts';
import { ExitCodeError } from '../../errors/exit-code-error.ts';
import { positionText } from '../files/position.ts';
import type { PlannedChange, PolicyPlan } from './policy-plan.ts';

/** Error thrown when a change of a plan failed. The changes after it were not tried. */
export class ApplyError extends ExitCodeError {
  override readonly name = 'ApplyError';
  /** Changes that were not made, with the failed one at the start. */
  readonly remaining: readonly PlannedChange[];

  constructor(remaining: readonly [PlannedChange, ...PlannedChange[]], cause: unknown) {
    const [failed] = remaining;
    const { message = '', exitCode } = describeError(cause);
    const text = `The policy "${failed.name}" was not ${past[failed.action]}: ${message}`;
    super(placeOf(failed, cause) + text, exitCode, { cause });
    this.remaining = remaining;
  }
}

/** Past participles of the actions of a plan. */
export const past: Readonly<Record<PlannedChange['action'], string>> = {
  create: 'created',
  change: 'changed',
  archive: 'archived',
};

/**
 * Makes the changes of a plan, one after the other.
 *
 * @param onApplied - called after each change, with the id of its policy
 * @throws ApplyError for the first change that fails
 */
export async function applyPlan(
  client: Actlog,
  { changes }: PolicyPlan,
  onApplied: (change: PlannedChange, id: string) => Promise<void>,
): Promise<void> {
  for (const [index, change] of changes.entries()) {
    let id: string;
    try {
      id = await applyChange(client, change);
    } catch (error) {
      throw new ApplyError([change, ...changes.slice(index + 1)], error);
    }
    await onApplied(change, id);
  }
}

async function applyChange({ policies }: Actlog, change: PlannedChange): Promise<string> {
  switch (change.action) {
    case 'create':
      return (await policies.create(change.source.policy)).id;
    case 'change':
      return (await policies.update(change.id, change.patch)).id;
    case 'archive':
      return (await policies.archive(change.id)).id;
  }
}

/** Returns the place of the rejected field, if the service names it; otherwise that of the policy. */
function placeOf(change: PlannedChange, cause: unknown): string {
  if (change.action === 'archive') return '';
  const { details = [] } = (cause ?? {}) as { readonly details?: readonly { readonly path?: unknown }[] };
  const path = details[0]?.path;
  const keys = typeof path === 'string' && path !== '' ? path.split('.') : [];
  return `${positionText(change.source.positionOf(keys))}: `;
}
