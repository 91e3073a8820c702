import {
  allRules,
  currentEngineVersion,
  currentRulesetHash,
  dimensionIds,
  dimensionNames,
  type ExampleStep,
  type Rule,
  type RuleExample,
} from '@actlog/risk';

/** Formats the rules as a table, by dimension. */
export function rulesTable(): string {
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
export function ruleText(rule: Rule): string {
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
