import type { Check } from './check.ts';
import { checks as allChecks } from './checks.ts';
import { ContractError } from './contract-error.ts';
import type { ContractOptions, Settings } from './contract-options.ts';
import type { CheckResult, CheckStatus, ContractReport, RequirementResult } from './contract-report.ts';
import { Probe } from './http/probe.ts';
import { Failure, Skip } from './outcome.ts';
import type { Requirement } from './requirement.ts';
import { requirements as allRequirements } from './requirements.ts';
import { Run } from './run.ts';
import { resolveSettings } from './settings.ts';
import { version } from './version.ts';

/** Characters that a report tells of one check: an answer may hold a tenant's data. */
const longestDetail = 600;

/**
 * Holds a deployment against the specification, and returns what came of every requirement.
 *
 * What it makes in the deployment begins with one prefix; policies are archived at the end, held actions decided.
 *
 * @throws ContractError When an option cannot be used, the deployment gives no answer, or it refuses the key.
 */
export async function runContract(options: ContractOptions): Promise<ContractReport> {
  const settings = resolveSettings(options);
  const run = new Run(settings);
  const startedMs = Date.now();
  await meet(run);
  const chosen = allRequirements.filter((requirement) => isChosen(requirement, settings));
  const ids = new Set(chosen.map(({ id }) => id));
  const checks = allChecks.filter(({ requirement }) => ids.has(requirement));
  const ordered = [...checks.filter(({ last }) => !last), ...checks.filter(({ last }) => last)];
  const results = new Map<Check, CheckResult>();
  try {
    for (const check of ordered) {
      results.set(check, await outcomeOf(run, check, chosen));
      settings.onProgress(results.size, ordered.length);
    }
  } catch (error) {
    throw withLeftovers(error, run, await cleanUp(run, settings));
  }
  const complete = !settings.signal.aborted;
  const leftBehind = await cleanUp(run, settings);
  const told = chosen.map((requirement) => resultOf(requirement, checks, results));
  const counts = countsOf(told);
  return {
    suite: `@actlog/contract/${version}`,
    baseURL: settings.baseURL,
    capabilities: [...settings.capabilities],
    readOnly: settings.readOnly,
    prefix: run.prefix,
    startedAt: new Date(startedMs).toISOString(),
    durationMs: Date.now() - startedMs,
    requests: run.probe.answers.length,
    ok: complete && counts.mustFailed === 0,
    complete,
    counts,
    requirements: told,
    leftBehind: leftBehind.map((text) => run.redaction.text(text)),
  };
}

/** Finds out whether there is a deployment that takes the key. */
async function meet({ probe, settings }: Run): Promise<void> {
  const { status } = await probe.call('sessions.list', { query: { limit: 1 } });
  if (status === 401) {
    throw new ContractError(
      'KEY_REFUSED',
      `${settings.baseURL} refused the API key: is it a key of this deployment?`,
    );
  }
}

function isChosen({ id, capability }: Requirement, { only, capabilities }: Settings): boolean {
  if (capability !== undefined && !capabilities.has(capability)) return false;
  return only.length === 0 || only.some((part) => id.startsWith(part));
}

async function outcomeOf(run: Run, check: Check, chosen: readonly Requirement[]): Promise<CheckResult> {
  const { name } = check;
  const result = (status: CheckStatus, detail?: string): CheckResult => ({
    name,
    status,
    ...(detail !== undefined && { detail: run.redaction.text(shortened(detail)) }),
  });
  if (run.settings.signal.aborted) return result('skipped', 'the run was ended');
  if (run.settings.readOnly && !check.safe) return result('skipped', 'it writes, and the run only reads');
  const isOpen = chosen.find(({ id }) => id === check.requirement)?.level === 'OPEN';
  try {
    return result(isOpen ? 'noted' : 'passed', await check.run(run));
  } catch (error) {
    if (error instanceof ContractError) throw error;
    if (error instanceof Skip || run.settings.signal.aborted)
      return result('skipped', (error as Error).message);
    if (isOpen) return result('noted', `could not be seen: ${(error as Error).message}`);
    if (error instanceof Failure) return result('failed', error.message);
    return result('failed', `what came could not be judged: ${(error as Error).message}`);
  }
}

function shortened(text: string): string {
  return text.length > longestDetail ? `${text.slice(0, longestDetail)}…` : text;
}

function resultOf(
  { id, level, section, text }: Requirement,
  checks: readonly Check[],
  results: ReadonlyMap<Check, CheckResult>,
): RequirementResult {
  const mine = checks
    .filter(({ requirement }) => requirement === id)
    .map((check) => results.get(check) as CheckResult);
  const order: readonly CheckStatus[] = ['failed', 'passed', 'noted', 'skipped'];
  const status = order.find((one) => mine.some((result) => result.status === one)) ?? 'skipped';
  return { id, level, section, text, status, checks: mine };
}

function countsOf(results: readonly RequirementResult[]): ContractReport['counts'] {
  const count = (test: (result: RequirementResult) => boolean) => results.filter(test).length;
  return {
    passed: count(({ status }) => status === 'passed'),
    failed: count(({ status }) => status === 'failed'),
    skipped: count(({ status }) => status === 'skipped'),
    noted: count(({ status }) => status === 'noted'),
    mustFailed: count(({ status, level }) => status === 'failed' && level === 'MUST'),
    shouldFailed: count(({ status, level }) => status === 'failed' && level === 'SHOULD'),
  };
}

/** What ended a run too early, which also says what the run has left in the deployment. */
function withLeftovers(error: unknown, { prefix, redaction }: Run, leftBehind: readonly string[]): unknown {
  if (!(error instanceof ContractError) || leftBehind.length === 0) return error;
  const left = redaction.text(leftBehind.join(', '));
  return new ContractError(error.code, `${error.message} Left behind, named ${prefix}-…: ${left}.`, {
    cause: error,
  });
}

/** Takes away what can be taken away, also when the run was ended, and says what is left. */
async function cleanUp(run: Run, settings: Settings): Promise<string[]> {
  const probe = new Probe({ ...settings, signal: new AbortController().signal });
  const left: string[] = [];
  for (const part of [run.guardian, run.records]) {
    left.push(...(await part.cleanUp(probe).catch((error: Error) => [error.message])));
  }
  const { agents, notificationChannels, policies } = run.records.counts;
  const counted: readonly (readonly [number, string])[] = [
    [run.traffic.taken, 'events'],
    [agents, 'agents'],
    [policies, left.length === 0 ? 'archived policies' : 'policies'],
    [notificationChannels, 'webhooks'],
  ];
  return [...counted.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`), ...left];
}
