import { expect, it } from 'vitest';
import { junitReport } from '../command.ts';
import type { CheckReport, ContractReport } from '../contract-report.ts';
import type { Level } from '../requirement.ts';

function reportOf(level: Level, check: CheckReport): ContractReport {
  const requirement = { id: 'ACK-01', level, section: 'A & B', text: 'It "is" <so>.', status: check.status };
  const counts = {
    passed: 0,
    failed: 0,
    partial: 0,
    skipped: 0,
    noted: 0,
    mustFailed: 0,
    shouldFailed: 0,
    mustUnchecked: 0,
  };

  return {
    suite: '@actlog/contract/0.0.0',
    baseURL: 'http://127.0.0.1',
    capabilities: [],
    readOnly: false,
    limitedKey: false,
    uncheckedEndpoints: [],
    strict: false,
    prefix: 'p',
    startedAt: '2026-01-01T00:00:00.000Z',
    durationMs: 1500,
    requests: 1,
    ok: true,
    complete: true,
    counts,
    requirements: [{ ...requirement, checks: [check] }],
    leftBehind: [],
  };
}

it.each([
  ['MUST', 'passed', undefined, '/>'],
  ['MUST', 'failed', 'a < b\u0000\n', '><failure message="a &lt; b�&#10;"/></testcase>'],
  ['SHOULD', 'failed', 'no', '><skipped message="SHOULD not met: no"/></testcase>'],
  ['MUST', 'skipped', 'why', '><skipped message="why"/></testcase>'],
  ['OPEN', 'noted', 'seen', '><system-out>seen</system-out></testcase>'],
] as const)('reports a %s that was %s', (level, status, detail, expected) => {
  const xml = junitReport(reportOf(level, { name: 'n', status, ...(detail !== undefined && { detail }) }));
  expect(xml).toContain(`name="It &quot;is&quot; &lt;so&gt;. [n]"${expected}`);
  expect(xml).toContain('<testsuite name="A &amp; B" tests="1"');
  expect(xml).toContain('time="1.500"');
});

const passed: CheckReport = { name: 'n', status: 'passed' };
const skipped: CheckReport = { name: 'm', status: 'skipped', detail: 'why' };

function partialReport(strict: boolean): string {
  const report = reportOf('MUST', passed);
  const [requirement] = report.requirements as [ContractReport['requirements'][number]];
  return junitReport({
    ...report,
    strict,
    requirements: [{ ...requirement, status: 'partial', checks: [passed, skipped] }],
  });
}

it('says that a requirement is partly checked', () => {
  const xml = partialReport(false);
  expect(xml).toContain(
    '[n]"><system-out>The requirement is partly checked: 1 of 2 checks ran.</system-out>',
  );
  expect(xml).toContain('[m]"><skipped message="why"/>');
});

it('fails the skipped checks of a MUST in a strict run', () => {
  expect(partialReport(true)).toContain('[m]"><failure message="not checked: why"/>');
});
