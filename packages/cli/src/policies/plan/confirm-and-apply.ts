import type { Actlog } from '@actlog/client';
import { CanceledError } from '../../errors/canceled-error.ts';
import { describeError } from '../../errors/describe-error.ts';
import { ExitCodeError } from '../../errors/exit-code-error.ts';
import { type Format, type FormatFlags, formatOf } from '../../output/format.ts';
import { jsonText } from '../../output/json-text.ts';
import { note, print } from '../../output/print.ts';
import { printable } from '../../output/printable.ts';
import { styled } from '../../output/style.ts';
import { confirm } from '../../terminal/confirm.ts';
import { positionText } from '../files/position.ts';
import { type ChangeJson, changeJson, type PlannedChange, type PolicyPlan } from './policy-plan.ts';
import { printPlan } from './print-plan.ts';

/** Options of applying a plan. */
export interface ApplyFlags extends FormatFlags {
  /** Applies without a question. */
  readonly yes?: true;
}

/**
 * Prints a plan, asks in a terminal, makes the changes and prints what was done.
 *
 * @throws CanceledError if the person declined
 * @throws UsageError without a terminal and without `--yes`
 * @throws ApplyError for the first change that fails, after printing what was done and what was not
 */
export async function confirmAndApply(client: Actlog, plan: PolicyPlan, flags: ApplyFlags): Promise<void> {
  const format = formatOf(flags);
  if (format === 'table') await printPlan(plan);
  if (plan.changes.length > 0 && !(await confirm(actionOf(plan), flags.yes))) throw new CanceledError();
  await applyAll(client, plan, format);
}

/** Returns the phrase of the question. */
function actionOf({ changes }: PolicyPlan): string {
  return changes.length === 1 ? 'apply this change' : `apply these ${changes.length} changes`;
}

async function applyAll(client: Actlog, plan: PolicyPlan, format: Format): Promise<void> {
  const applied: ChangeJson[] = [];
  let failure: ApplyError | undefined;
  if (format === 'table' && plan.changes.length > 0) await print('');
  try {
    await applyPlan(client, plan, async (change, id) => {
      applied.push({ ...changeJson(change), id } as ChangeJson);
      if (format === 'table')
        await print(`${styled('green', '✓')} ${past[change.action]} ${printable(change.name)}`);
    });
  } catch (error) {
    if (!(error instanceof ApplyError)) throw error;
    failure = error;
  }
  const remaining = failure?.remaining ?? [];
  if (format === 'table') {
    if (plan.changes.length > 0)
      await print(`\nApplied ${applied.length} of ${plan.changes.length} changes.`);
  } else {
    const result = { applied, notApplied: remaining.map(changeJson), unchanged: plan.unchanged };
    await print(jsonText(result, format === 'json' ? 2 : undefined));
  }
  if (failure === undefined) return;
  for (const change of remaining) note(`✗ not ${past[change.action]}: ${printable(change.name)}`);
  throw failure;
}

/** Error thrown when a change of a plan failed. The changes after it were not tried. */
class ApplyError extends ExitCodeError {
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
const past: Readonly<Record<PlannedChange['action'], string>> = {
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
async function applyPlan(
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
