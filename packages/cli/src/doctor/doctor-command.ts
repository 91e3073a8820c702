import { resolve } from 'node:path';
import { Command } from 'commander';
import { addExamples } from '../command/client-command.ts';
import { addConnectionOptions, type ConnectionFlags } from '../connection/connect.ts';
import { exitCodes } from '../exit-codes.ts';
import { parseDuration } from '../options/duration.ts';
import { parseCount } from '../options/numbers.ts';
import { addFormatOptions, type FormatFlags, formatOf, jsonText } from '../output/format.ts';
import { note, print } from '../output/print.ts';
import { printable } from '../output/printable.ts';
import { type Style, styled } from '../output/style.ts';
import { countOf } from '../spool/spool-survey.ts';
import { type Check, type CheckStatus, type Facts, found, type Outcome } from './check.ts';
import { checks } from './checks.ts';
import { Variables } from './variables.ts';

interface DoctorFlags extends ConnectionFlags, FormatFlags {
  readonly dir: string;
  readonly timeout: number;
  readonly maxSpoolBytes: number;
}

/** Creates the command `actlog doctor`. */
export function doctorCommand(): Command {
  const command = new Command('doctor')
    .description('find out why events do not arrive, and how to fix it')
    .option('--dir <folder>', 'folder of the project', '.')
    .option('--timeout <duration>', 'time limit of each step over the network', parseDuration, 5000)
    .option('--max-spool-bytes <bytes>', "the recorder's maxSpoolBytes", parseCount, 256 * 1024 * 1024)
    .action((flags: DoctorFlags) => runDoctor(flags));
  addFormatOptions(command);
  addConnectionOptions(command);
  addExamples(command, [
    'actlog doctor',
    ['actlog doctor --env-file .env', 'with the variables of a file'],
    ['actlog doctor --json', 'for a script; the exit code is 1 if something is wrong'],
  ]);
  return command.addHelpText(
    'after',
    '\nIt changes nothing, sends nothing but reads, and never prints the key.\nExit codes: 0 if nothing is wrong, 1 otherwise, 2 for a wrong option.',
  );
}

async function runDoctor(flags: DoctorFlags): Promise<void> {
  const format = formatOf(flags);
  const diagnoses: Diagnosis[] = [];
  for await (const diagnosis of diagnose(factsOf(flags))) {
    diagnoses.push(diagnosis);
    if (format === 'table') await printDiagnosis(diagnosis);
    else if (format === 'jsonl') await print(jsonText(diagnosis));
  }
  const failed = diagnoses.filter(({ status }) => status === 'failed').length;
  if (format === 'json') await print(jsonText({ ok: failed === 0, checks: diagnoses }, 2));
  if (failed === 0) return;
  process.exitCode = exitCodes.failed;
  if (format === 'table') note(`\n${countOf(failed, 'problem')} found.`);
}

function factsOf({ dir, timeout, maxSpoolBytes, baseUrl, envFile, allowInsecureHttp }: DoctorFlags): Facts {
  const folder = resolve(dir);
  return {
    options: {
      dir: folder,
      timeoutMs: timeout,
      maxSpoolBytes,
      allowInsecureHttp: allowInsecureHttp ?? false,
    },
    variables: new Variables(folder, envFile, { ACTLOG_BASE_URL: baseUrl }),
  };
}

const marks: Readonly<Record<CheckStatus, readonly [mark: string, style: Style]>> = {
  ok: ['✓', 'green'],
  warning: ['!', 'yellow'],
  failed: ['✗', 'red'],
  skipped: ['–', 'dim'],
};

const width = Math.max(...checks.map(({ title }) => title.length));

/** Prints a line for people: a mark, what was checked, and what was found; below it, the fix. */
async function printDiagnosis({ status, title, detail, fix }: Diagnosis): Promise<void> {
  const [mark, style] = marks[status];
  const text = printable(detail);
  const shown = status === 'skipped' ? styled('dim', text) : text;
  await print(`${styled(style, mark)} ${title.padEnd(width)}  ${shown}`);
  if (fix !== undefined) await print(`${' '.repeat(width + 4)}${styled('bold', 'Fix:')} ${printable(fix)}`);
}

/** One line of the result. */
export interface Diagnosis extends Outcome {
  /** Id of the check. */
  readonly check: string;
  readonly title: string;
}

/** Runs all checks and yields their results. Reads only: nothing is changed, here or on the service. */
async function* diagnose(facts: Facts): AsyncGenerator<Diagnosis> {
  /** Titles of the checks without which others make no sense, by the id of each check that did not pass. */
  const causes = new Map<string, string>();
  for (const check of checks) {
    const [cause] = (check.requires ?? []).flatMap((id) => causes.get(id) ?? []);
    const outcomes = cause === undefined ? await runCheck(check, facts) : [notChecked(cause)];
    const isPassed = outcomes.every(({ status }) => status === 'ok' || status === 'warning');
    if (!isPassed) causes.set(check.id, cause ?? check.title);
    for (const outcome of outcomes) yield { check: check.id, title: check.title, ...outcome };
  }
}

async function runCheck({ run }: Check, facts: Facts): Promise<readonly Outcome[]> {
  try {
    return [await run(facts)].flat();
  } catch (error) {
    // A defect of a check must not hide the results of the others.
    return [found('check-broken', { problem: (error as Error).message })];
  }
}

function notChecked(cause: string): Outcome {
  return { status: 'skipped', detail: `not checked, because "${cause}" did not pass` };
}
