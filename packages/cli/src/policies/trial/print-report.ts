import { print } from '../../output/print.ts';
import { printable } from '../../output/printable.ts';
import { styled } from '../../output/style.ts';
import { positionText } from '../files/position.ts';
import { effectStyle } from '../policy-columns.ts';
import type { NamedDecision, PolicyTestReport, PolicyTestResult } from './run-policy-tests.ts';

/** Prints the results of tests for people, by file, with the reason of each policy in a failed test. */
export async function printReport({ tests, passed, failed, neverDeciding }: PolicyTestReport): Promise<void> {
  for (const [file, results] of Map.groupBy(tests, (test) => test.file)) {
    await print(styled('bold', printable(file)));
    for (const result of results) await printResult(result);
    await print('');
  }
  const counts = [
    styled('green', `${passed} passed`),
    ...(failed > 0 ? [styled('red', `${failed} failed`)] : []),
  ];
  await print(`Tests: ${counts.join(', ')}`);
  if (neverDeciding.length === 0) return;
  const names = neverDeciding.map((name) => `"${printable(name)}"`).join(', ');
  await print(`Policies that decide in no test: ${names}`);
}

async function printResult(result: PolicyTestResult): Promise<void> {
  const { name, passed, expected, actual, policies } = result;
  if (passed) return print(`  ${styled('green', '✓')} ${printable(name)}`);
  await print(
    `  ${styled('red', '✗')} ${printable(name)}  ${styled('dim', printable(positionText(result)))}`,
  );
  await print(`      expected  ${decisionText(expected)}`);
  await print(`      actual    ${decisionText(actual)}`);
  for (const policy of policies) {
    const sign = policy.applies ? '•' : '·';
    await print(`      ${sign} ${styled('bold', printable(policy.name))}: ${printable(policy.why)}`);
  }
}

/** Formats a decision with its policy, if it is known. */
function decisionText({ decision, decidedBy }: NamedDecision): string {
  const text = styled(effectStyle(decision), decision);
  if (decidedBy === undefined) return text;
  return decidedBy === null ? `${text}, by no policy` : `${text}, by "${printable(decidedBy)}"`;
}
