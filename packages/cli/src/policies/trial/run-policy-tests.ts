import { checkedAction, PolicyTrial, policyDefinition } from '@actlog/policy';
import type { PolicyCreate, PolicyEffect } from '@actlog/protocol';
import { readsUntrusted } from '@actlog/risk';
import { type FormatFlags, formatOf, jsonText } from '../../output/format.ts';
import { print } from '../../output/print.ts';
import { writeFile } from '../../output/print-list.ts';
import { printable } from '../../output/printable.ts';
import { styled } from '../../output/style.ts';
import { defaultAgent, type FileTest } from '../files/policies-file.ts';
import {
  type PlacedTest,
  PolicyFileError,
  type PolicyFiles,
  type Position,
  positionText,
} from '../files/policy-files.ts';
import { effectStyle } from '../policy-columns.ts';

/** Time of a test that names none. */
const defaultTime = '1970-01-01T00:00:00Z';

/** Decision with the name of the deciding policy; null for no policy, undefined for any. */
interface NamedDecision {
  readonly decision: PolicyEffect;
  readonly decidedBy?: string | null | undefined;
}

/** A policy's part in a failed test. */
interface ExplainedPolicy {
  readonly name: string;
  /** `true` if it applies to the action. */
  readonly applies: boolean;
  /** Reason why it applies or does not apply. */
  readonly why: string;
}

/** Result of one test. */
interface PolicyTestResult extends Position {
  readonly name: string;
  readonly passed: boolean;
  readonly expected: NamedDecision;
  readonly actual: NamedDecision;
  /** All policies in order of precedence; empty if the test passed. */
  readonly policies: readonly ExplainedPolicy[];
}

/** Results of all tests. */
interface PolicyTestReport {
  readonly passed: number;
  readonly failed: number;
  /** Names of the policies that decide in no test. */
  readonly neverDeciding: readonly string[];
  readonly tests: readonly PolicyTestResult[];
}

/**
 * Runs the tests of policy files by the rules of the service, without the service. Policies with the same precedence are
 * ordered as in the files, as if they were created in that order.
 *
 * @throws PolicyFileError if a test names a policy that is in no file
 */
export function runPolicyTests({ policies, tests }: PolicyFiles): PolicyTestReport {
  requireKnownNames({ policies, tests });
  const all = trialOf(policies.map(({ policy }) => policy));
  const alone = new Map<string, PolicyTrial>();
  const trialFor = ({ isAlone, position: { file } }: PlacedTest): PolicyTrial => {
    if (!isAlone) return all;
    const own = policies.filter(({ position }) => position.file === file);
    const trial = alone.get(file) ?? trialOf(own.map(({ policy }) => ({ ...policy, mode: 'enforce' })));
    alone.set(file, trial);
    return trial;
  };
  const deciding = new Set<string | null>();
  const results = tests.map((placed): PolicyTestResult => {
    const { test, position } = placed;
    const verdict = trialFor(placed).check(actionOf(test), {
      actions: test.earlierActions,
      calls: test.earlierCalls?.map(({ tool, agent, ...call }) => ({
        ...call,
        toolName: tool,
        agentId: agent,
      })),
      atMs: Date.parse(test.at ?? defaultTime),
    });
    const actual = { decision: verdict.decision, decidedBy: verdict.decidedBy?.definition.name ?? null };
    deciding.add(actual.decidedBy);
    const { decision, decidedBy } = test;
    const passed =
      decision === actual.decision && (decidedBy === undefined || decidedBy === actual.decidedBy);
    return {
      name: test.name ?? `${test.action.tool}: ${decision}`,
      ...position,
      passed,
      expected: { decision, ...(decidedBy !== undefined && { decidedBy }) },
      actual,
      policies: passed
        ? []
        : verdict
            .explain()
            .map(({ policy, applies, why }) => ({ name: policy.definition.name, applies, why })),
    };
  });
  const failed = results.filter(({ passed }) => !passed).length;
  const names = policies.map(({ policy }) => policy.name);
  return {
    passed: results.length - failed,
    failed,
    neverDeciding: names.filter((name) => !deciding.has(name)),
    tests: results,
  };
}

function trialOf(policies: readonly PolicyCreate[]): PolicyTrial {
  const digits = String(policies.length).length;
  const defined = policies.map((policy, index) => ({
    id: String(index).padStart(digits, '0'),
    definition: policyDefinition(policy),
  }));
  return new PolicyTrial(defined, { readsUntrusted });
}

function requireKnownNames({ policies, tests }: PolicyFiles): void {
  const names = new Set(policies.map(({ policy }) => policy.name));
  const problems = tests.flatMap(({ test: { decidedBy }, positionOf }) =>
    decidedBy == null || names.has(decidedBy)
      ? []
      : [{ position: positionOf(['decidedBy']), message: `decidedBy: there is no policy "${decidedBy}"` }],
  );
  if (problems.length > 0) throw new PolicyFileError(problems);
}

function actionOf({ action }: FileTest): ReturnType<typeof checkedAction> {
  const { agent, session, tool, framework, environment, principal, subagent, parentAgents, identity } =
    action;
  return checkedAction({
    agentId: agent ?? defaultAgent,
    sessionId: session,
    action: {
      toolName: tool,
      argumentsHash: action.argumentsHash ?? '',
      arguments: action.arguments,
      origins: action.origins,
    },
    framework,
    environment,
    principal,
    subagent,
    parentAgentIds: parentAgents && [...parentAgents],
    identity: identity && {
      issuer: identity.issuer ?? '',
      subject: identity.subject ?? '',
      agentVerified: identity.agentVerified ?? true,
      principalVerified: identity.principalVerified ?? false,
    },
  });
}

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
function junitReport({ tests, failed }: PolicyTestReport): string {
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
  await print(`      expected  ${styledDecision(expected)}`);
  await print(`      actual    ${styledDecision(actual)}`);
  for (const policy of policies) {
    const sign = policy.applies ? '•' : '·';
    await print(`      ${sign} ${styled('bold', printable(policy.name))}: ${printable(policy.why)}`);
  }
}

/** Formats a decision with its policy, if it is known. */
function styledDecision({ decision, decidedBy }: NamedDecision): string {
  const text = styled(effectStyle(decision), decision);
  if (decidedBy === undefined) return text;
  return decidedBy === null ? `${text}, by no policy` : `${text}, by "${printable(decidedBy)}"`;
}
