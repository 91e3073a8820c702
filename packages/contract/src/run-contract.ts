import type { Check } from './check.ts';
import { checks as allChecks } from './checks.ts';
import { ContractError } from './contract-error.ts';
import type { ContractOptions, Settings } from './contract-options.ts';
import type { CheckReport, CheckStatus, ContractReport } from './contract-report.ts';
import { Probe } from './http/probe.ts';
import { Failure, Skip } from './outcome.ts';
import type { Requirement } from './requirement.ts';
import { countsOf, requirementResult, uncheckedEndpointsOf } from './requirement-result.ts';
import { requirements as allRequirements } from './requirements.ts';
import { Run } from './run.ts';
import { resolveSettings } from './settings.ts';
import { version } from './version.ts';

/** Maximum length of a check's detail in a report, in characters: a response may contain a tenant's data. */
const longestDetail = 600;

/**
 * Checks a deployment against the specification and returns the result of every requirement.
 *
 * Everything that it creates in the deployment has a common name prefix. Policies are archived at the end, and held
 * actions are decided.
 *
 * @throws {@link ContractError} if an option is invalid, the deployment does not respond, or it rejects the key.
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
  const results = new Map<Check, CheckReport>();
  try {
    if (!settings.readOnly && checks.some(({ safe }) => !safe))
      await run.traffic.prepare().catch(rethrowFatal);
    for (const check of ordered) {
      results.set(check, await outcomeOf(run, check, chosen));
      settings.onProgress(results.size, ordered.length);
    }
  } catch (error) {
    throw withLeftovers(error, run, await cleanUp(run, settings));
  }
  const complete = !settings.signal.aborted;
  const leftBehind = await cleanUp(run, settings);
  const requirementResults = chosen.map((requirement) =>
    requirementResult(
      requirement,
      checks.filter((check) => check.requirement === requirement.id).flatMap((one) => results.get(one) ?? []),
    ),
  );
  const counts = countsOf(requirementResults);
  const uncheckedEndpoints = uncheckedEndpointsOf(requirementResults);
  const mayBeUnchecked = settings.readOnly || settings.limitedKey;
  const isChecked =
    (mayBeUnchecked || uncheckedEndpoints.length === 0) && !(settings.strict && counts.mustUnchecked > 0);
  return {
    suite: `@actlog/contract/${version}`,
    baseURL: settings.baseURL,
    capabilities: [...settings.capabilities],
    readOnly: settings.readOnly,
    prefix: run.prefix,
    startedAt: new Date(startedMs).toISOString(),
    durationMs: Date.now() - startedMs,
    requests: run.probe.responses.length,
    limitedKey: settings.limitedKey,
    uncheckedEndpoints,
    strict: settings.strict,
    ok: complete && counts.mustFailed === 0 && isChecked,
    complete,
    counts,
    requirements: requirementResults,
    leftBehind: leftBehind.map((text) => run.redaction.text(text)),
  };
}

/** Checks that the deployment responds and accepts the key. */
async function meet({ probe, settings }: Run): Promise<void> {
  const { status } = await probe.call('sessions.list', { query: { limit: 1 } });
  if (status === 401) {
    throw new ContractError(
      'KEY_REFUSED',
      `${settings.baseURL} rejected the API key; pass a key of this deployment.`,
    );
  }
}

/** Leaves an error to the check that has the same cause, unless it ends the run. */
function rethrowFatal(error: unknown): void {
  if (error instanceof ContractError) throw error;
}

function isChosen({ id, capability }: Requirement, { only, capabilities }: Settings): boolean {
  if (capability !== undefined && !capabilities.has(capability)) return false;
  return only.length === 0 || only.some((part) => id.startsWith(part));
}

async function outcomeOf(run: Run, check: Check, chosen: readonly Requirement[]): Promise<CheckReport> {
  const { name } = check;
  const result = (status: CheckStatus, detail?: string): CheckReport => ({
    name,
    status,
    ...(detail !== undefined && { detail: run.redaction.text(shortened(detail)) }),
  });
  if (run.settings.signal.aborted) return result('skipped', 'the run was stopped');
  if (run.settings.readOnly && !check.safe)
    return result('skipped', 'the check writes, but the run is read-only');
  const isOpen = chosen.find(({ id }) => id === check.requirement)?.level === 'OPEN';
  try {
    return result(isOpen ? 'noted' : 'passed', await check.run(run));
  } catch (error) {
    if (error instanceof ContractError) throw error;
    if (error instanceof Skip || run.settings.signal.aborted)
      return result('skipped', (error as Error).message);
    if (isOpen) return result('noted', `could not be observed: ${(error as Error).message}`);
    if (error instanceof Failure) return result('failed', error.message);
    return result('failed', `the response could not be evaluated: ${(error as Error).message}`);
  }
}

function shortened(text: string): string {
  return text.length > longestDetail ? `${text.slice(0, longestDetail)}…` : text;
}

/** Returns the error that ended a run early, extended by the records that the run left in the deployment. */
function withLeftovers(error: unknown, { prefix, redaction }: Run, leftBehind: readonly string[]): unknown {
  if (!(error instanceof ContractError) || leftBehind.length === 0) return error;
  const left = redaction.text(leftBehind.join(', '));
  return new ContractError(error.code, `${error.message} Left behind with the prefix ${prefix}-…: ${left}.`, {
    cause: error,
  });
}

/** Cleans up everything possible, even if the run was stopped, and returns what is left. */
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
