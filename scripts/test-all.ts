// Runs what `npm test` leaves out, part by part: `npm run test:all`, or `npm run test:all -- PART,… [arguments of vitest]`.
// A line for each part has its time; the output of a part is printed if it fails.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './workspace.ts';

/** A run of vitest. */
interface Part {
  readonly title: string;
  /** Part of vitest.config.ts. */
  readonly environment?: string;
  readonly args?: readonly string[];
  /** Command that must succeed first, unless `npm run check` has just run and `ACTLOG_CHECKED` says so. */
  readonly before?: readonly string[];
}

const fromSource = ['--conditions=@actlog/source', '--disable-warning=ExperimentalWarning'];

const parts: Readonly<Record<string, Part>> = {
  postgres: { title: 'the server on PostgreSQL', environment: 'postgres' },
  oldest: { title: 'the oldest frameworks that the adapters work with', environment: 'oldest' },
  slow: {
    title: 'crashes, also on PostgreSQL, real agents, other runtimes, faults of deployments',
    environment: 'slow',
  },
  screens: {
    title: 'every page of the console at five widths, light and dark',
    args: ['--config', 'packages/console/tests/screens/vitest.config.ts'],
  },
  docs: {
    title: 'the pages of the docs site',
    args: ['--config', 'packages/docs/tests/site/vitest.config.ts'],
    before: [...fromSource, 'packages/docs/build-site.ts'],
  },
};

/** Runs Node to its end, and returns its exit code and output. */
function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

/** Counts of a part; a part that could not be run has failed once. */
interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

async function runPart(name: string, extra: readonly string[]): Promise<Outcome> {
  const { title, environment = 'default', args = [], before } = parts[name] as Part;
  const folder = mkdtempSync(join(tmpdir(), 'actlog-tests-'));
  const report = join(folder, 'report.json');
  const startedAt = performance.now();
  const env = { ...process.env, ACTLOG_TEST_PART: environment };
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const isBuilt = process.env.ACTLOG_CHECKED === 'true';
  let ended = before && !isBuilt ? await run(before, env) : { code: 0, output: '' };
  if (ended.code === 0) ended = await run([vitest, 'run', ...args, ...reporters, ...extra], env);
  const outcome = outcomeOf(report, ended.code);
  rmSync(folder, { recursive: true });
  if (outcome.failed > 0) console.log(ended.output);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  const counts = `${outcome.passed} passed, ${outcome.failed} failed, ${outcome.skipped} skipped`;
  console.log(
    `${outcome.failed === 0 ? '✓' : '✗'} ${name.padEnd(8)} ${seconds.padStart(4)} s  ${counts}  ${title}`,
  );
  return outcome;
}

function outcomeOf(report: string, code: number): Outcome {
  try {
    const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, 'utf8'));
    const failed = numFailedTests === 0 && code !== 0 ? 1 : numFailedTests;
    return { passed: numPassedTests, failed, skipped: numPendingTests };
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

const [wanted, ...extra] = process.argv.slice(2);
const names = wanted?.split(',') ?? Object.keys(parts);
for (const name of names.filter((each) => !Object.hasOwn(parts, each))) {
  console.error(`There is no part "${name}"; choose some of: ${Object.keys(parts).join(', ')}.`);
  process.exit(2);
}
const total = { passed: 0, failed: 0, skipped: 0 };
for (const name of names) {
  const outcome = await runPart(name, extra);
  total.passed += outcome.passed;
  total.failed += outcome.failed;
  total.skipped += outcome.skipped;
}
console.log(`test:all: ${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
