import type { Actlog, Policy } from '@actlog/client';
import { type PolicyDefinition, policyDefinition } from '@actlog/policy';
import { describeError } from '../../errors/describe-error.ts';
import { CanceledError, ExitCodeError } from '../../errors/usage-error.ts';
import { type Format, type FormatFlags, formatOf, jsonText } from '../../output/format.ts';
import { note, print } from '../../output/print.ts';
import { printable } from '../../output/printable.ts';
import { type Style, styled } from '../../output/style.ts';
import { confirm } from '../../terminal/confirm.ts';
import { type PolicyFiles, positionText } from '../files/policy-files.ts';
import {
  AmbiguousPolicyError,
  type ChangeJson,
  changeJson,
  definitionOf,
  type FieldChange,
  type PlannedChange,
  type PolicyPlan,
  planJson,
  planPolicies,
} from './policy-plan.ts';

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

/** Returns the place of the rejected field, if the service names it; otherwise of the policy. */
function placeOf(change: PlannedChange, cause: unknown): string {
  if (change.action === 'archive') return '';
  const { details = [] } = (cause ?? {}) as { readonly details?: readonly { readonly path?: unknown }[] };
  const path = details[0]?.path;
  const keys = typeof path === 'string' && path !== '' ? path.split('.') : [];
  return `${positionText(change.source.positionOf(keys))}: `;
}

const signs = {
  create: ['+', 'green'],
  change: ['~', 'yellow'],
  archive: ['-', 'red'],
} as const satisfies Record<PlannedChange['action'], readonly [string, Style]>;

/** Maximum length of a change that is printed on one line, in characters. */
const longestChange = 60;

/** Prints a plan for people: each change with its fields, and a summary. */
export async function printPlan(plan: PolicyPlan): Promise<void> {
  for (const change of plan.changes) {
    const [sign, style] = signs[change.action];
    const id = change.action === 'create' ? '' : styled('dim', `  (${printable(change.id)})`);
    await print(`${styled(style, sign)} ${styled('bold', printable(change.name))}${id}`);
    for (const line of linesOf(change)) await print(`    ${line}`);
    await print('');
  }
  await print(summaryOf(plan));
  const { length } = plan.unmanaged;
  if (length > 0) {
    const policies = length === 1 ? '1 active policy is' : `${length} active policies are`;
    await print(`${policies} in no file and will stay; --prune archives ${length === 1 ? 'it' : 'them'}.`);
  }
}

/** Returns the number of changes of each kind in one sentence. */
function summaryOf({ changes, unchanged }: PolicyPlan): string {
  if (changes.length === 0) return `Nothing to do: ${unchanged} unchanged.`;
  const count = (action: PlannedChange['action']) => changes.filter((one) => one.action === action).length;
  const counts = [
    `${count('create')} to create`,
    `${count('change')} to change`,
    `${count('archive')} to archive`,
    `${unchanged} unchanged`,
  ];
  return `Plan: ${counts.join(', ')}.`;
}

function linesOf(change: PlannedChange): string[] {
  if (change.action === 'archive') return [];
  if (change.action === 'change') return aligned(change.changes, changeText);
  return aligned(fieldsOf(change.source.policy), ({ after }) => jsonText(after));
}

/** Returns the fields of a new policy that are not empty. */
function fieldsOf(policy: Parameters<typeof policyDefinition>[0]): FieldChange[] {
  const { name: _name, effect, match, rate, approval, ...plain } = policyDefinition(policy);
  const part = (name: string, members: object | null) =>
    Object.entries(members ?? {}).map(([field, value]) => [`${name}.${field}`, value] as const);
  const fields = { effect, ...plain };
  return [
    ...Object.entries(fields),
    ...part('match', match),
    ...part('rate', rate),
    ...part('approval', approval),
  ]
    .filter(([field, value]) => value !== null && !(field === 'priority' && value === 0))
    .map(([field, after]) => ({ field, before: null, after }));
}

function aligned(fields: readonly FieldChange[], textOf: (field: FieldChange) => string): string[] {
  const width = Math.max(...fields.map(({ field }) => field.length));
  return fields.flatMap((field) => {
    const [first = '', ...rest] = textOf(field).split('\n');
    const line = `${styled('dim', field.field.padEnd(width))}  ${first}`;
    return [line.trimEnd(), ...rest.map((text) => `  ${text}`)];
  });
}

function changeText({ before, after }: FieldChange): string {
  const [from, to] = [jsonText(before), jsonText(after)];
  if (from.length + to.length <= longestChange) return `${styled('red', from)} → ${styled('green', to)}`;
  return `\n${styled('red', `- ${from}`)}\n${styled('green', `+ ${to}`)}`;
}

/** Prints a plan in the format that the options choose. */
export async function showPlan(plan: PolicyPlan, flags: FormatFlags): Promise<void> {
  const format = formatOf(flags);
  if (format === 'table') return printPlan(plan);
  await print(jsonText(planJson(plan), format === 'json' ? 2 : undefined));
}

/** Options of commands that plan changes. */
export interface PlanFlags {
  readonly prune?: true;
}

/** Number of policies of one request. */
const pageSize = 200;

/**
 * Returns the changes that make the active policies of the service equal to the policies in files.
 *
 * @throws AmbiguousPolicyError if several active policies have the name of a policy in the files
 */
export async function readPlan(
  client: Actlog,
  files: PolicyFiles,
  { prune }: PlanFlags,
): Promise<PolicyPlan> {
  return planPolicies(files.policies, await activePolicies(client), { prune: prune ?? false });
}

/**
 * Returns the active policies of the service, as their authors wrote them.
 *
 * @throws AmbiguousPolicyError if several have the same name
 */
export async function readDefinitions(client: Actlog): Promise<PolicyDefinition[]> {
  const active = await activePolicies(client);
  for (const [name, policies] of Map.groupBy(active, (policy) => policy.name ?? '')) {
    if (policies.length > 1) throw new AmbiguousPolicyError(name, policies);
  }
  return active.map(definitionOf);
}

function activePolicies(client: Actlog): Promise<Policy[]> {
  return client.policies.list({ status: 'active', limit: pageSize }).toArray();
}
