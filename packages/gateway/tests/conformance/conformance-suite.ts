import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** One check of the suite, as it writes it. */
export interface ConformanceCheck {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'INFO' | 'SKIPPED';
  readonly errorMessage?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Checks of each scenario, by its name. */
export type ConformanceResults = ReadonlyMap<string, readonly ConformanceCheck[]>;

const suite = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));

/**
 * Runs the MCP conformance suite, and returns the checks of its scenarios.
 *
 * @param args - `server` or `client`, and the options
 */
export async function runConformanceSuite(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<ConformanceResults> {
  const folder = await mkdtemp(join(tmpdir(), 'actlog-conformance-'));
  try {
    const output = await outputOf([suite, ...args, '--output-dir', folder], env);
    const results = new Map<string, readonly ConformanceCheck[]>();
    for (const name of await readdir(folder, { recursive: true })) {
      if (!name.endsWith('checks.json')) continue;
      const checks = JSON.parse(await readFile(join(folder, name), 'utf8'));
      results.set(scenarioOf(dirname(name), args[0]), checks);
    }
    if (results.size === 0) throw new Error(`The conformance suite has no results: ${output}`);
    return results;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Returns the verdicts of each scenario: its checks without the messages that it only notes. */
export function verdictsOf(results: ConformanceResults): Record<string, Record<string, string>> {
  const verdicts = [...results].map(([scenario, checks]) => {
    const judged = checks.filter(({ status }) => status !== 'INFO');
    return [scenario, Object.fromEntries(judged.map(({ id, status }) => [id, status]))] as const;
  });
  return Object.fromEntries(verdicts);
}

/** Runs a program of Node's to its end, whatever its exit code: the suite fails if a check does. */
function outputOf(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  return new Promise((resolveOutput) => {
    execFile(process.execPath, args, { env, maxBuffer: 2 ** 26 }, (_error, stdout, stderr) =>
      resolveOutput(stdout + stderr),
    );
  });
}

/** Returns the scenario of a folder with results, whose name ends with a time. */
function scenarioOf(folder: string, kind: string | undefined): string {
  const name = folder.replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');
  return kind === 'server' ? name.replace(/^server-/, '') : name;
}
