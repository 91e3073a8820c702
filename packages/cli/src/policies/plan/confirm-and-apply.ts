import type { Actlog } from '@actlog/client';
import { CanceledError } from '../../errors/canceled-error.ts';
import { type Format, type FormatFlags, formatOf } from '../../output/format.ts';
import { jsonText } from '../../output/json-text.ts';
import { note, print } from '../../output/print.ts';
import { printable } from '../../output/printable.ts';
import { styled } from '../../output/style.ts';
import { confirm } from '../../terminal/confirm.ts';
import { ApplyError, applyPlan, past } from './apply-plan.ts';
import { type ChangeJson, changeJson } from './plan-json.ts';
import type { PolicyPlan } from './policy-plan.ts';
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
