import { type FormatFlags, formatOf } from '../../output/format.ts';
import { jsonText } from '../../output/json-text.ts';
import { print } from '../../output/print.ts';
import { writeFile } from '../../output/write-file.ts';
import { junitReport } from './junit-report.ts';
import { printReport } from './print-report.ts';
import type { PolicyTestReport } from './run-policy-tests.ts';

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
