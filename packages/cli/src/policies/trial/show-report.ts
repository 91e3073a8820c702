import { type FormatFlags, formatOf, jsonText } from '../../output/format.ts';
import { print } from '../../output/print.ts';
import { writeFile } from '../../output/print-list.ts';
import { printable } from '../../output/printable.ts';
import { styled } from '../../output/style.ts';
import { positionText } from '../files/policy-files.ts';
import { effectStyle } from '../policy-columns.ts';
import {
  junitReport,
  type NamedDecision,
  type PolicyTestReport,
  type PolicyTestResult,
} from './run-policy-tests.ts';

/** Options of the output of tests. */
export interface ReportFlags extends FormatFlags {
  /** File that gets the results as JUnit XML. */
  readonly junit?: string;
}

/** Prints the results of tests in the format that the options choose: as JSON Lines, one test on each line. */
export async function showReport(report: PolicyTestReport, flags: ReportFlags): Promise<void> {
  if (flags.junit !== undefined) writeFile(flags.junit, junitReport(report));
  const format = formatOf(flags);
  if (format === 'table') return printReport(report);
  if (format === 'json') return print(jsonText(report, 2));
  for (const test of report.tests) await print(jsonText(test));
}

/** Prints the results of tests for people, by file, with the reason of each policy in a failed test. */
async function printReport({ tests, passed, failed, neverDeciding }: PolicyTestReport): Promise<void> {
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
