import { positionText } from '../files/position.ts';
import type { NamedDecision, PolicyTestReport, PolicyTestResult } from './run-policy-tests.ts';

/** Characters that XML 1.0 cannot represent, even escaped. */
const forbidden = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/** Formats the results of tests as JUnit XML for CI systems: one suite for each file. */
export function junitReport({ tests, failed }: PolicyTestReport): string {
  const suites = [...Map.groupBy(tests, (test) => test.file)].map(([file, results]) => {
    const failures = results.filter(({ passed }) => !passed).length;
    const cases = results.map(caseOf).join('\n');
    return `  <testsuite name="${escaped(file)}" tests="${results.length}" failures="${failures}">\n${cases}\n  </testsuite>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="actlog policies" tests="${tests.length}" failures="${failed}">`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}

function caseOf(result: PolicyTestResult): string {
  const { name, file, line, passed, expected, actual, policies } = result;
  const head = `    <testcase classname="${escaped(file)}" name="${escaped(name)}" file="${escaped(file)}" line="${line}"`;
  if (passed) return `${head}/>`;
  const message = `expected ${decisionText(expected)}, got ${decisionText(actual)}`;
  const reasons = policies.map((policy) => `${policy.name}: ${policy.why}`);
  const text = [positionText(result), ...reasons].join('\n');
  return `${head}><failure message="${escaped(message)}">${escaped(text)}</failure></testcase>`;
}

function decisionText({ decision, decidedBy }: NamedDecision): string {
  if (decidedBy === undefined) return decision;
  return decidedBy === null ? `${decision} by no policy` : `${decision} by "${decidedBy}"`;
}

function escaped(text: string): string {
  return text
    .replaceAll(forbidden, '\u{fffd}')
    .replaceAll(/[&<>"\t\n\r]/g, (sign) => entities[sign] as string);
}
