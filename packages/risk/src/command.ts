import { Command, InvalidArgumentError } from 'commander';
import { DIMENSION_IDS, DIMENSION_NAMES } from './dimensions.ts';
import { ENGINE_VERSION, RULESET_HASH } from './engine-version.ts';
import type { Rule } from './rule.ts';
import { RULES } from './rule-catalogue.ts';
import type { ExampleStep, RuleExample } from './rule-example.ts';
import { tagsOf } from './taxonomy/tag.ts';
import { readToolName } from './taxonomy/tool-profile.ts';
import { version } from './version.ts';

/** Formats the rules as a table, by dimension. */
export function rulesTable(): string {
  const width = Math.max(...RULES.map((rule) => rule.id.length));
  const parts = DIMENSION_IDS.map((id) => {
    const rows = RULES.filter((rule) => rule.dimension === id).map(
      (rule) => `  ${rule.id.padEnd(width)}  ${rule.weight.toFixed(2)}  ${rule.title}`,
    );
    return `${id} ${DIMENSION_NAMES[id]}\n${rows.join('\n')}`;
  });
  return `${parts.join('\n\n')}\n\n${RULES.length} rules, engine ${ENGINE_VERSION}, ruleset ${RULESET_HASH.slice(0, 12)}`;
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

function exampleText({ name, steps, history }: RuleExample): string {
  const past = history === undefined ? '' : ` [after ${history.length} past sessions]`;
  return `  - ${name}${past}: ${steps.map(stepText).join(' → ')}`;
}

/** Formats all details of one rule. */
export function ruleText(rule: Rule): string {
  return [
    `${rule.id}: ${rule.title}`,
    `Dimension       ${rule.dimension} ${DIMENSION_NAMES[rule.dimension]}`,
    `Touches         ${rule.llm.join(', ')}`,
    `Weight          ${rule.weight}${rule.deterministic ? ', sufficient alone for critical' : ''}`,
    `Signal          ${rule.signal}`,
    `False positives ${rule.falsePositives}`,
    `Recommendation  ${rule.recommendation.title}. ${rule.recommendation.text}`,
    `Matches in\n${rule.fires.map(exampleText).join('\n')}`,
    `Does not match in\n${rule.quiet.map(exampleText).join('\n')}`,
  ].join('\n');
}

function ruleNamed(id: string): Rule {
  const rule = RULES.find((one) => one.id === id);
  if (rule === undefined)
    throw new InvalidArgumentError(`unknown rule "${id}": run "actlog-risk rules" for a list.`);
  return rule;
}

/**
 * Creates the command `actlog-risk`: `rules`, `rules explain ID`, `tool NAME`.
 *
 * @param write Function that receives the output.
 */
export function riskCommand(write: (text: string) => void): Command {
  const command = new Command('actlog-risk').description('Shows the rules of @actlog/risk.').version(version);
  const rules = command
    .command('rules')
    .description('list the rules')
    .action(() => write(`${rulesTable()}\n`));
  rules
    .command('explain')
    .description('explain one rule')
    .argument('<id>', 'id of the rule', ruleNamed)
    .action((rule: Rule) => write(`${ruleText(rule)}\n`));
  command
    .command('tool')
    .description('show the classification of a tool name')
    .argument('<name>', 'name of the tool')
    .action((name: string) => {
      const { bits, acts, verb, noun } = readToolName(name);
      write(
        `${name}: ${acts ? 'acts' : 'looks'}; verb ${verb ?? 'unknown'}, noun ${noun ?? 'unknown'}; tags ${tagsOf(bits).join(', ') || 'none'}\n`,
      );
    });
  return command;
}
