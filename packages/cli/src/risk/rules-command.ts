import { allRules, type Rule } from '@actlog/risk';
import { Argument, Command } from 'commander';
import { addExamples } from '../command/examples.ts';
import { addFormatOptions, type FormatFlags, formatOf } from '../output/format.ts';
import { jsonText } from '../output/json-text.ts';
import { print } from '../output/print.ts';
import { rulesTable, ruleText } from './rule-text.ts';

/** Creates the command `rules`, which lists and explains the rules of the risk engine. */
export function rulesCommand(): Command {
  const rules = new Command('rules').description(
    'Lists and explains the rules by which sessions are scored.',
  );
  const list = rules.command('list', { isDefault: true }).description('list the rules by dimension');
  addFormatOptions(list).action((flags: FormatFlags) => printRules(allRules, rulesTable, flags));
  addExamples(list, ['actlog rules', ['actlog rules --jsonl', 'for a script']]);
  const explain = rules
    .command('explain')
    .description('explain a rule: signal, weight, false positives, and sessions in which it matches')
    .addArgument(new Argument('<id>', 'id of the rule').choices(allRules.map(({ id }) => id)));
  addFormatOptions(explain).action(async (id: string, flags: FormatFlags) => {
    const rule = allRules.find((one) => one.id === id) as Rule;
    const format = formatOf(flags);
    await print(
      format === 'table' ? ruleText(rule) : jsonText(dataOf(rule), format === 'json' ? 2 : undefined),
    );
  });
  addExamples(explain, ['actlog rules explain goal.detour']);
  return rules;
}

async function printRules(rules: readonly Rule[], table: () => string, flags: FormatFlags): Promise<void> {
  const format = formatOf(flags);
  if (format === 'table') await print(table());
  else if (format === 'json') await print(jsonText(rules.map(dataOf), 2));
  else for (const rule of rules) await print(jsonText(dataOf(rule)));
}

/** Returns a rule without its functions and examples. */
function dataOf({ id, title, dimension, llm, weight, signal, falsePositives, recommendation }: Rule): object {
  return { id, title, dimension, llm, weight, signal, falsePositives, recommendation };
}
