import { resolve } from 'node:path';
import { Command } from 'commander';
import { addExamples } from '../command/examples.ts';
import { addConnectionOptions, type ConnectionFlags } from '../connection/connection-options.ts';
import { exitCodes } from '../exit-codes.ts';
import { parseDuration } from '../options/duration.ts';
import { parseCount } from '../options/numbers.ts';
import { addFormatOptions, type FormatFlags, formatOf } from '../output/format.ts';
import { jsonText } from '../output/json-text.ts';
import { note, print } from '../output/print.ts';
import { countOf } from '../spool/count-of.ts';
import { type Diagnosis, diagnose } from './diagnose.ts';
import type { Facts } from './facts.ts';
import { printDiagnosis } from './print-diagnosis.ts';
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
