import { policyDefinition } from '@actlog/policy';
import { jsonText } from '../../output/json-text.ts';
import { print } from '../../output/print.ts';
import { printable } from '../../output/printable.ts';
import { type Style, styled } from '../../output/style.ts';
import type { FieldChange } from './policy-difference.ts';
import type { PlannedChange, PolicyPlan } from './policy-plan.ts';

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
export function summaryOf({ changes, unchanged }: PolicyPlan): string {
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
