import { type FormatFlags, formatOf } from '../../output/format.ts';
import { jsonText } from '../../output/json-text.ts';
import { print } from '../../output/print.ts';
import { type PolicyPlan, planJson } from './policy-plan.ts';
import { printPlan } from './print-plan.ts';

/** Prints a plan in the format that the options choose. */
export async function showPlan(plan: PolicyPlan, flags: FormatFlags): Promise<void> {
  const format = formatOf(flags);
  if (format === 'table') return printPlan(plan);
  await print(jsonText(planJson(plan), format === 'json' ? 2 : undefined));
}
