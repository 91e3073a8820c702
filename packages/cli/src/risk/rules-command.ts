import {
  allRules,
  currentEngineVersion,
  currentRulesetHash,
  dimensionIds,
  dimensionNames,
  type ExampleStep,
  type Rule,
  type RuleExample,
  readToolName,
  tagsOf,
} from '@actlog/risk';
import { Argument, Command } from 'commander';
import { addExamples } from '../command/client-command.ts';
import { addFormatOptions, type FormatFlags, formatOf, jsonText } from '../output/format.ts';
import { print } from '../output/print.ts';
import { printRecord } from '../output/print-record.ts';

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

/** Formats the rules as a table, by dimension. */
function rulesTable(): string {
  const width = Math.max(...allRules.map((rule) => rule.id.length));
  const parts = dimensionIds.map((id) => {
    const rows = allRules
      .filter((rule) => rule.dimension === id)
      .map((rule) => `  ${rule.id.padEnd(width)}  ${rule.weight.toFixed(2)}  ${rule.title}`);
    return `${id} ${dimensionNames[id]}\n${rows.join('\n')}`;
  });
  return `${parts.join('\n\n')}\n\n${allRules.length} rules, engine ${currentEngineVersion}, ruleset ${currentRulesetHash.slice(0, 12)}`;
}

/** Formats all details of one rule. */
function ruleText(rule: Rule): string {
  return [
    `${rule.id}: ${rule.title}`,
    `Dimension       ${rule.dimension} ${dimensionNames[rule.dimension]}`,
    `Touches         ${rule.llm.join(', ')}`,
    `Weight          ${rule.weight}${rule.deterministic ? ', sufficient alone for critical' : ''}`,
    `Signal          ${rule.signal}`,
    `False positives ${rule.falsePositives}`,
    `Recommendation  ${rule.recommendation.title}. ${rule.recommendation.text}`,
    `Matches in\n${rule.fires.map(exampleText).join('\n')}`,
    `Does not match in\n${rule.quiet.map(exampleText).join('\n')}`,
  ].join('\n');
}

function exampleText({ name, steps, history }: RuleExample): string {
  const past = history === undefined ? '' : ` [after ${history.length} past sessions]`;
  return `  - ${name}${past}: ${steps.map(stepText).join(' → ')}`;
}

function stepText(step: ExampleStep): string {
  if (typeof step === 'string') return step;
  const { tool, status, category, times, stamps, payload } = step;
  const notes = [
    category,
    payload?.decision,
    status === undefined ? undefined : `status ${status ?? 'none'}`,
    times === undefined ? undefined : `${times} times`,
    ...(stamps ?? []),
  ].filter((note) => note !== undefined);
  const name = tool ?? 'event';
  return notes.length > 0 ? `${name} (${notes.join(', ')})` : name;
}

/** Creates the command `tool`, which shows how the risk engine classifies a tool by its name. */
export function toolCommand(): Command {
  const command = new Command('tool')
    .description(
      'Shows how the risk engine classifies a tool by its name. `actlog tags` corrects it for a tenant.',
    )
    .argument('<name>', 'name of the tool');
  addFormatOptions(command).action(async (name: string, flags: FormatFlags) => {
    const { bits, acts, verb, noun } = readToolName(name);
    const tags = tagsOf(bits);
    await printRecord(
      { name, acts, verb: verb ?? null, noun: noun ?? null, tags },
      [
        ['tool', name, 'bold'],
        ['kind', acts ? 'acts' : 'looks'],
        ['verb', verb ?? 'unknown'],
        ['noun', noun ?? 'unknown'],
        ['tags', tags.join(', ') || 'none'],
      ],
      flags,
    );
  });
  return addExamples(command, ['actlog tool mcp__mail__sendEmail']);
}
